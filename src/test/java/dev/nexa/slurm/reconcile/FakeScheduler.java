package dev.nexa.slurm.reconcile;

import dev.nexa.slurm.process.ProcessIdentity;
import dev.nexa.slurm.scheduler.AccountingQuery;
import dev.nexa.slurm.scheduler.AccountingRecord;
import dev.nexa.slurm.scheduler.QueueEntry;
import dev.nexa.slurm.scheduler.RememberedJob;
import dev.nexa.slurm.scheduler.Scheduler;
import dev.nexa.slurm.scheduler.SchedulerUnavailable;
import dev.nexa.slurm.scheduler.SubmitAnswer;
import dev.nexa.slurm.scheduler.SubmitRequest;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.Consumer;

/** A scheduler that says what the test wrote down, and writes down what it is asked. */
class FakeScheduler implements Scheduler {
  final List<QueueEntry> queue = new ArrayList<>();
  final List<AccountingRecord> rows = new ArrayList<>();
  final List<RememberedJob> remembered = new ArrayList<>();
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
      throw new SchedulerUnavailable("squeue failed: it is down");
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
  public void requeue(long jobId, int task) {
    throw new AssertionError("nobody requeues");
  }

  @Override
  public List<RememberedJob> remembered(long arrayJobId) {
    asked.add("job " + arrayJobId);
    return List.copyOf(remembered);
  }

  @Override
  public boolean keepsAccounting() {
    return accountingKept;
  }
}
