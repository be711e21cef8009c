import argparse

from transformers import Trainer


def main(arguments):
    trainer = Trainer(arguments)
    trainer.train()
    trainer.save_model(arguments.output_dir)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    parser.add_argument("--output_dir")
    parser.add_argument("--resume_from_checkpoint")
    for name in ("max_steps", "save_steps", "dies_at", "dies_in_save"):
        parser.add_argument("--" + name, type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0)
    parser.add_argument("--device")
    main(parser.parse_args())
