#!/usr/bin/env bash
# Completion of nexa-slurm for bash and zsh. In ~/.bashrc: source <(nexa-slurm generate-completion)
if [ -n "${ZSH_VERSION-}" ]; then
  type compdef >/dev/null 2>&1 || { autoload -U +X compinit && compinit; }
  autoload -U +X bashcompinit && bashcompinit
fi

# The words that may follow a command: its subcommands, its flags, its options as --NAME=TYPE, its parameter as @TYPE.
_nexa_slurm_words() {
  case $1 in
@WORDS@
  esac
}

# The workspace that the command line names, else NEXA_WORKSPACE, else this folder or the nearest above it that is one.
_nexa_slurm_workspace() {
  local i folder=$PWD
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == --workspace ]]; then
      [[ ${COMP_WORDS[i + 1]} != = ]] || ((i++))
      echo "${COMP_WORDS[i + 1]/#\~/$HOME}"
      return
    fi
  done
  if [[ -n ${NEXA_WORKSPACE-} ]]; then
    echo "$NEXA_WORKSPACE"
    return
  fi
  while [[ -n $folder && ! -d $folder/.nexa && ! -e $folder/configs/policy.yaml && ! -d $folder/configs/clusters ]]; do
    folder=${folder%/*}
  done
  echo "${folder:-$PWD}"
}

# The files whose paths begin so. zsh's compgen does not take the beginning.
_nexa_slurm_begun() {
  local file
  if [[ -z ${ZSH_VERSION-} ]]; then
    compgen -f -- "$1"
    return
  fi
  for file in "$1"*; do
    [[ ! -e $file ]] || echo "$file"
  done
}

# Files of the kind, and folders on the way to them.
_nexa_slurm_files() {
  local file
  type compopt >/dev/null 2>&1 && compopt -o filenames 2>/dev/null
  while IFS= read -r file; do
    case $1:$file in
      any:* | yaml:*.y*ml | script:*.y*ml | script:*.py | script:*.sh) COMPREPLY+=("$file") ;;
      *) [[ ! -d $file ]] || COMPREPLY+=("$file") ;;
    esac
  done < <(_nexa_slurm_begun "$2")
}

# The names of files in a folder of the workspace, without .yaml or .json. Whatever begins with cost_ belongs to a run.
_nexa_slurm_names() {
  local file
  while IFS= read -r file; do
    file=${file##*/}
    [[ $file == cost_* || $file == infra_report* ]] || COMPREPLY+=("${file%.*}")
  done < <(_nexa_slurm_begun "$(_nexa_slurm_workspace)/$1/$2")
}

# No word has a blank. In zsh, `path` and `words` are variables of its own. zsh splits what a command prints, but not a variable.
# shellcheck disable=SC2207,SC2116
_nexa_slurm() {
  local cur=${COMP_WORDS[COMP_CWORD]} known chain='' word option='' value='' kind='' names='' i
  COMPREPLY=()
  known=$(_nexa_slurm_words '')
  # bash takes `=` and `:` for words of their own.
  for ((i = 1; i < COMP_CWORD; i++)); do
    word=${COMP_WORDS[i]}
    if [[ $word == = || $word == : ]]; then
      value=$option
    elif [[ -n $value ]]; then
      value=''
    elif [[ " $known " == *" $word="* ]]; then
      option=${known#*"$word="} option=${option%% *} value=$option
    elif [[ $word != -* && " $known " == *" $word "* ]]; then
      chain=${chain:+$chain }$word known=$(_nexa_slurm_words "$chain")
    fi
  done
  [[ $cur != = && $cur != : ]] || { value=$option cur=''; }
  if [[ -n $value ]]; then
    kind=$value
  elif [[ $cur == -* ]]; then
    for word in $(echo "$known"); do
      [[ $word != -* ]] || kind+=",${word%%=*}"
    done
  else
    for word in $(echo "$known"); do
      case $word in
        @*) kind=${word#@} ;;
        -*) ;;
        *) names+=" $word" ;;
      esac
    done
  fi
  case $kind in
    CONFIG) _nexa_slurm_files yaml "$cur" ;;
    SCRIPT) _nexa_slurm_files script "$cur" ;;
    PARTITION) names=$(sinfo --noheader --format=%R 2>/dev/null) ;;
    ACCOUNT)
      names=$(sacctmgr --noheader --parsable2 show associations "user=$(id -un)" format=Account 2>/dev/null | sort -u)
      ;;
    FILE) _nexa_slurm_files any "$cur" ;;
    DIR) _nexa_slurm_files folders "$cur" ;;
    RUN) _nexa_slurm_names runs/manifests "$cur" && COMPREPLY+=($(compgen -W latest -- "$cur")) ;;
    AFTER)
      if [[ ${COMP_WORDS[COMP_CWORD - 1]} == : || ${COMP_WORDS[COMP_CWORD]} == : ]]; then
        _nexa_slurm_names runs/manifests "$cur" && COMPREPLY+=($(compgen -W latest -- "$cur"))
      else
        type compopt >/dev/null 2>&1 && compopt -o nospace 2>/dev/null
        COMPREPLY=($(compgen -W 'afterok: afterany: afternotok: aftercorr:' -- "$cur"))
      fi
      ;;
    CLUSTER) _nexa_slurm_names configs/clusters "$cur" && [[ " ${COMPREPLY[*]} " == *' local '* ]] || COMPREPLY+=($(compgen -W local -- "$cur")) ;;
    ,*) names+=${kind//,/ } ;;
  esac
  [[ -z $names ]] || COMPREPLY+=($(compgen -W "$names" -- "$cur"))
}

complete -F _nexa_slurm nexa-slurm
