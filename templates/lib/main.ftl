<#-- What the command needs, and what nexa_main of each template does before it. -->
<#if has_datasets>
<#include "dataset.ftl">

</#if>
<#include "container.ftl">
<#macro begin>
  nexa_preamble "$@"
<#if grouped>
  export NEXA_GPUS=[=gpus_per_node]
</#if>
  nexa_claim
  nexa_watch
<#if chain gt 1>
  nexa_leave_if_done
</#if>
<#if has_inputs>
  nexa_require_inputs<#list filled as file> [=file]</#list>
</#if>
<#if requeues gt 0 && on_slurm>
  nexa_limit_requeues
</#if>
  nexa_software
</#macro>
<#-- The files of the command, and its folder: its content tells where the command runs that has none of its own. -->
<#macro workplace>
<#list datasets as dataset>
  nexa_run nexa_require_dataset [=dataset.reference] [=dataset.path] [=dataset.root] [=dataset.newest] [=dataset.check]
</#list>
<#list judged>
  nexa_run nexa_models<#items as model> [=model]</#items> >"$NEXA_ATTEMPT.models"
</#list>
<#if code_sha256??>
<@unpacked/>
</#if>
<#if program_sha256??>
  nexa_run nexa_require_program
</#if>
<#if workdir??>
  cd [=workdir]
<#elseif code_sha256??>
  cd "$NEXA_CODE"
<#else>
<#nested>
</#if>
</#macro>
