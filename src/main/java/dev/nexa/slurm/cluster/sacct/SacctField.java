package dev.nexa.slurm.cluster.sacct;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** The sacct fields that are read, by sacct's names. */
enum SacctField {
  JOBID("JobID"),
  JOBIDRAW("JobIDRaw"),
  CLUSTER("Cluster"),
  JOBNAME("JobName"),
  USER("User"),
  ACCOUNT("Account"),
  PARTITION("Partition"),
  STATE("State"),
  EXITCODE("ExitCode"),
  SUBMIT("Submit"),
  START("Start"),
  END("End"),
  ELAPSEDRAW("ElapsedRaw"),
  ELAPSED("Elapsed"),
  SUSPENDED("Suspended"),
  TIMELIMITRAW("TimelimitRaw"),
  ALLOCCPUS("AllocCPUS"),
  NCPUS("NCPUS"),
  TOTALCPU("TotalCPU"),
  MAXRSS("MaxRSS"),
  NTASKS("NTasks"),
  REQTRES("ReqTRES"),
  ALLOCTRES("AllocTRES"),
  REQGRES("ReqGRES"),
  USAGETOTAL("TRESUsageInTot"),
  ENERGYRAW("ConsumedEnergyRaw"),
  ENERGY("ConsumedEnergy"),
  NODELIST("NodeList");

  /** Every field of Slurm 20.11 to 26.05 (the table in src/sacct/sacct.c at their last tags). */
  private static final Set<String> KNOWN =
      Set.of(
          ("account admincomment alloccpus allocgres allocnodes alloctres associd avecpu avecpufreq"
                  + " avediskread avediskwrite avepages averss avevmsize blockid cluster comment"
                  + " constraints consumedenergy consumedenergyraw container cputime cputimeraw"
                  + " dbindex derivedexitcode elapsed elapsedraw eligible end exclusive exitcode"
                  + " extra failednode flags gid group jobid jobidraw jobname layout licenses"
                  + " maxdiskread maxdiskreadnode maxdiskreadtask maxdiskwrite maxdiskwritenode"
                  + " maxdiskwritetask maxpages maxpagesnode maxpagestask maxrss maxrssnode"
                  + " maxrsstask maxvmsize maxvmsizenode maxvmsizetask mcslabel mincpu mincpunode"
                  + " mincputask ncpus nnodes nodelist ntasks originalsluid oversubscribe partition"
                  + " planned plannedcpu plannedcpuraw priority qos qosraw qosreq reason reqcpufreq"
                  + " reqcpufreqgov reqcpufreqmax reqcpufreqmin reqcpus reqgres reqmem reqnodes"
                  + " reqreservation reqtres reservation reservationid reserved restarts resvcpu"
                  + " resvcpuraw segmentsize sluid start state stderr stdin stdout submit submitline"
                  + " suspended systemcomment systemcpu timelimit timelimitraw totalcpu"
                  + " tresusageinave tresusageinmax tresusageinmaxnode tresusageinmaxtask"
                  + " tresusageinmin tresusageinminnode tresusageinmintask tresusageintot"
                  + " tresusageoutave tresusageoutmax tresusageoutmaxnode tresusageoutmaxtask"
                  + " tresusageoutmin tresusageoutminnode tresusageoutmintask tresusageouttot uid"
                  + " user usercpu wckey wckeyid workdir")
              .split(" ", -1));

  /** Fields that users write, which may hold any text. */
  private static final Set<String> FREE_TEXT =
      Set.of(
          ("jobname comment admincomment systemcomment submitline workdir constraints container"
                  + " extra licenses stderr stdin stdout wckey")
              .split(" ", -1));

  private final String label;

  SacctField(String label) {
    this.label = label;
  }

  /** Returns sacct's spelling of the field. */
  String label() {
    return label;
  }

  static boolean isKnown(String name) {
    return KNOWN.contains(name.toLowerCase(Locale.ROOT));
  }

  static boolean isFreeText(String name) {
    return FREE_TEXT.contains(name.toLowerCase(Locale.ROOT));
  }

  /** Returns the fields to query; no free text is last, as its newline would end the row. */
  static List<String> wanted() {
    EnumSet<SacctField> fields = EnumSet.allOf(SacctField.class);
    fields.removeAll(List.of(PARTITION, ELAPSED, NCPUS, REQGRES, ENERGY));
    return fields.stream().map(SacctField::label).toList();
  }
}
