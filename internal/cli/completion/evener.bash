# bash completion of evener. Written by: evener completion bash

_evener() {
	# bash cuts words at = and :, so they are put together again as they stand in the line.
	local line=${COMP_LINE:0:COMP_POINT} rest piece i words=()
	for ((i = 0; i <= COMP_CWORD; i++)); do
		rest=${line#"${line%%[![:space:]]*}"}
		piece=${COMP_WORDS[i]}
		((i == COMP_CWORD)) && piece=$rest
		if [[ $rest == "$line" && $i -gt 0 && -n $rest ]]; then
			words[${#words[@]} - 1]+=$piece
		else
			words+=("$piece")
		fi
		line=${rest#"$piece"}
	done
	words=("${words[@]//[\"\'\\]/}")
	local cur=${words[${#words[@]} - 1]} cut= value word about found=() abouts=()
	value=$cur
	[[ $cur == -*=* ]] && value=${cur#*=}
	local breaks=${COMP_WORDBREAKS//[^=:]/}
	if [[ -n $breaks ]]; then
		cut=${cur%"${cur##*["$breaks"]}"} # readline replaces what stands behind this
	fi

	COMPREPLY=()
	while IFS=$'\t' read -r word about; do
		case $word in
		:files | :folders)
			compopt -o filenames 2>/dev/null
			if [[ $word == :files ]]; then
				mapfile -t found < <(compgen -f -- "$value")
			else
				mapfile -t found < <(compgen -d -- "$value")
			fi
			COMPREPLY=("${found[@]}")
			return
			;;
		esac
		COMPREPLY+=("${word#"$cut"}")
		abouts+=("$about")
	done < <(evener completion words -- "${words[@]:1}" 2>/dev/null)

	# A list that is only shown tells what the words mean.
	if ((COMP_TYPE == 63 && ${#COMPREPLY[@]} > 1)); then
		for i in "${!COMPREPLY[@]}"; do
			[[ -n ${abouts[i]} ]] && printf -v "COMPREPLY[i]" '%s  (%s)' "${COMPREPLY[i]}" "${abouts[i]}"
		done
	fi
}

complete -F _evener evener
