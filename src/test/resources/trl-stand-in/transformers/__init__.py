"""A stand-in for transformers: as much of Trainer as trl_resume.py meets. It trains nothing and needs no torch."""
import json
import os
import time


class TrainerCallback:
    pass


class State:
    global_step = 0
    max_steps = 0


class Control:
    should_save = should_training_stop = False


class Trainer:
    def __init__(self, args):
        self.args, self.state, self.callbacks = args, State(), []
        self.state.max_steps = args.max_steps

    def add_callback(self, callback):
        self.callbacks.append(callback)

    def train(self, resume_from_checkpoint=None, trial=None):
        if resume_from_checkpoint:
            with open(os.path.join(resume_from_checkpoint, "trainer_state.json"), encoding="utf-8") as file:
                self.state.global_step = json.load(file)["global_step"]
        while self.state.global_step < self.state.max_steps:
            self.state.global_step += 1
            print("step", self.state.global_step, flush=True)
            time.sleep(self.args.seconds)
            control = Control()
            for callback in self.callbacks:
                callback.on_step_end(self.args, self.state, control)
            if control.should_save or self.state.global_step % self.args.save_steps == 0:
                self.save_checkpoint()
            if self.args.dies_at == self.state.global_step:
                os._exit(9)
            if control.should_training_stop:
                break

    def save_checkpoint(self):
        """In the order of the real one: weights, optimizer, and the state last."""
        folder = os.path.join(self.args.output_dir, f"checkpoint-{self.state.global_step}")
        os.makedirs(folder, exist_ok=True)
        if self.args.dies_in_save == self.state.global_step:
            with open(os.path.join(folder, "trainer_state.json"), "w", encoding="utf-8") as file:
                file.write('{"global_step": ')
            os._exit(9)
        with open(os.path.join(folder, "trainer_state.json"), "w", encoding="utf-8") as file:
            json.dump({"global_step": self.state.global_step}, file)

    def save_model(self, folder):
        print("model saved", flush=True)
