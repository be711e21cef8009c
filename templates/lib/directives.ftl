<#list directives as option>
#SBATCH --[=option.name]<#if option.value??>=[=option.value]</#if>
</#list>
