<#list directives as option>
#SBATCH <#if option.separator??>[=option.separator]<#else>--[=option.name]<#if option.value??>=[=option.value]</#if></#if>
</#list>
