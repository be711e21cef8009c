<#include "directives.ftl">
# Values are quoted as they are meant: a dollar sign in one is a dollar sign.
# shellcheck disable=SC1091,SC2016,SC2209

<#include "preamble.ftl">

<#include "health.ftl">

<#include "exit.ftl">
<#if code_sha256??>

<#include "code.ftl">
</#if>
