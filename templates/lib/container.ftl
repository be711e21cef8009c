<#-- Before the command, where a program of its own runs the container. -->
<#macro prefix>
<#if container_runtime?? && (container_runtime == "apptainer" || container_runtime == "singularity")> [=container_runtime] exec<#if container_gpus> --nv</#if> --bind "$NEXA_RUN_DIR,$NEXA_SCRATCH,$NEXA_DURABLE,$NEXA_SHARED"<#list mounts as mount>,[=mount]</#list> [=container]</#if><#t>
</#macro>
<#-- Of several nodes, each is sampled in the step that has its GPUs. -->
<#macro sampled>
<#if nodes gt 1 && monitor_seconds gt 0> bash "$NEXA_RUN_DIR/runner/monitor.sh" [=monitor_seconds] [=gpus_per_node] [=nodes]</#if><#t>
</#macro>
<#-- Options of srun, where that does: pyxis and Slurm's own. Not as directives: an sbatch without pyxis refuses them. -->
<#macro step>
<#if container_runtime?? && container_runtime == "pyxis"> --container-image=[=container] --container-workdir="$PWD" --container-mounts="$NEXA_RUN_DIR:$NEXA_RUN_DIR,$NEXA_SCRATCH:$NEXA_SCRATCH,$NEXA_DURABLE:$NEXA_DURABLE,$NEXA_SHARED:$NEXA_SHARED"<#list mounts as mount>,[=mount]</#list></#if><#t>
<#if container_runtime?? && container_runtime == "slurm"> --container=[=container]</#if><#t>
</#macro>
<#macro words><#list command as word> [=word]</#list></#macro>
<#if nodes gt 1 || container_step>
<#if processes>
# A step of ours has one process on each node, whatever srun would take from the job's options.
nexa_own_step() {
  unset "${!SLURM_NTASKS@}" "${!SLURM_GPUS@}" SLURM_NPROCS SLURM_TASKS_PER_NODE SLURM_CPUS_PER_TASK SLURM_CPUS_PER_GPU \
    SLURM_MEM_PER_GPU SLURM_HINT SLURM_THREADS_PER_CORE SLURM_DISTRIBUTION SLURM_EXCLUSIVE SLURM_OVERCOMMIT
}

</#if>
# One on each node; a signal must find srun itself. Its 22.05 and 23.02 don't inherit --cpus-per-task. Before the command each
# step overlaps: otherwise the next one says that the nodes are busy, until Slurm has seen its end.
nexa_on_each_node() {
<#if processes>
  nexa_own_step
  exec srun --nodes="$SLURM_JOB_NUM_NODES" --ntasks-per-node=1 --kill-on-bad-exit=1 --wait=[=wait_seconds] "$@"
<#else>
  exec srun --ntasks-per-node=1 --cpus-per-task=[=cpus_per_task] --kill-on-bad-exit=1 --wait=[=wait_seconds] "$@"
</#if>
}

</#if>
