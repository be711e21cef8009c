<#-- The list that --version --licenses prints; made by license-maven-plugin, a line each library. -->
<#list dependencyMap as entry>
<#assign library = entry.getKey()>
${library.artifactId} ${library.version}, <#list entry.getValue() as licence>${licence}<#if licence_has_next> or </#if></#list>: ${library.name!library.artifactId}, ${library.groupId}<#if library.url??>, ${library.url}</#if>
</#list>
