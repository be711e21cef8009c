<#-- Checkpoints are written on scratch, and copies are kept on durable storage. -->
<#macro checkpoint_functions>
# The copies of an earlier attempt come back to scratch; then complete checkpoints are copied while the command runs.
nexa_bring_checkpoints() {
  bash "$NEXA_RUN_DIR/runner/checkpoints.sh" ready || return
<#if nodes gt 1>
  nexa_run nexa_on_each_node --overlap bash "$NEXA_RUN_DIR/runner/checkpoints.sh" begin || return
  nexa_on_each_node --overlap bash "$NEXA_RUN_DIR/runner/checkpoints.sh" watch [=checkpoint_seconds] &
<#else>
  nexa_run bash "$NEXA_RUN_DIR/runner/checkpoints.sh" begin || return
  bash "$NEXA_RUN_DIR/runner/checkpoints.sh" watch [=checkpoint_seconds] &
</#if>
  NEXA_COPIER=$!
}

# STATUS: after the command. What is complete is kept, and what a task that is done leaves becomes visible.
nexa_keep_checkpoints() {
  [[ -n ${NEXA_COPIER:-} ]] || return 0
  # On a full disk there is no file to find.
  : >"$NEXA_FINAL/.nexa-resume/.parts.$SLURM_JOB_ID.$NEXA_RESTART/stop" || kill -KILL "$NEXA_COPIER" 2>/dev/null
<#if nodes == 1>
  kill -USR2 "$NEXA_COPIER" 2>/dev/null
</#if>
  wait "$NEXA_COPIER" 2>/dev/null
<#if nodes gt 1>
  (nexa_on_each_node bash "$NEXA_RUN_DIR/runner/checkpoints.sh" stage "$1") &&
<#else>
  bash "$NEXA_RUN_DIR/runner/checkpoints.sh" stage "$1" &&
</#if>
    bash "$NEXA_RUN_DIR/runner/checkpoints.sh" publish "$1"
}

</#macro>
