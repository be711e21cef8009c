package dev.nexa.slurm.run.reconcile;

import dev.nexa.slurm.base.error.ErrorCode;
import dev.nexa.slurm.base.process.ProcessIdentity;
import dev.nexa.slurm.cluster.scheduler.AccountingQuery;
import dev.nexa.slurm.cluster.scheduler.AccountingRecord;
import dev.nexa.slurm.cluster.scheduler.ControllerJob;
import dev.nexa.slurm.cluster.scheduler.QueueEntry;
import dev.nexa.slurm.cluster.scheduler.Scheduler;
import dev.nexa.slurm.cluster.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.cluster.scheduler.SubmitAnswer;
import dev.nexa.slurm.cluster.scheduler.SubmitRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** A scheduler that says what the test wrote down, and writes down what it is asked. */
class FakeScheduler implements Scheduler {
  final List<QueueEntry> queue = new ArrayList<>();
  final List<AccountingRecord> rows = new ArrayList<>();
  final List<ControllerJob> remembered = new ArrayList<>();
  final List<String> asked = new ArrayList<>();
  boolean accountingKept = true;
  boolean down;
  private long nextId = 200;

  @Override
  public String name() {
    return "slurm";
  }

  @Override
  public SubmitAnswer submit(SubmitRequest request, Consumer<ProcessIdentity> started) {
    asked.add("submit");
    started.accept(ProcessIdentity.ofThisProcess());
    return new SubmitAnswer.Submitted(nextId++, "");
  }

  @Override
  public List<QueueEntry> queue() {
    if (down) {
      throw new SchedulerUnavailable(ErrorCode.SLURM_UNREACHABLE, "squeue failed: it is down");
    }
    asked.add("queue");
    return List.copyOf(queue);
  }

  @Override
  public void accounting(AccountingQuery query, Consumer<AccountingRecord> consumer) {
    asked.add("accounting of " + (query.jobIds().isEmpty() ? query.names() : query.jobIds()));
    rows.stream()
        .filter(
            row -> query.jobIds().contains(row.arrayJobId()) || query.names().contains(row.name()))
        .forEach(consumer);
  }

  @Override
  public void cancel(String key, long jobId, OptionalInt task) {
    asked.add("cancel " + jobId);
  }

  @Override
  public void dependOn(long jobId, String dependency) {
    throw new UnsupportedOperationException();
  }

  @Override
  public boolean requeue(long jobId, OptionalInt task) {
    throw new AssertionError("nobody requeues");
  }

  @Override
  public List<ControllerJob> remembered(long arrayJobId) {
    asked.add("job " + arrayJobId);
    return List.copyOf(remembered);
  }

  @Override
  public boolean keepsAccounting() {
    return accountingKept;
  }
}
