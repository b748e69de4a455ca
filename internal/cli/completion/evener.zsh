#compdef evener
# zsh completion of evener. Written by: evener completion zsh

_evener() {
	local -a lines words_before found
	local line word about
	words_before=("${(@Q)words[2,CURRENT-1]}")
	lines=("${(@f)$(evener completion words -- "${words_before[@]}" "${(Q)PREFIX}" 2>/dev/null)}")
	for line in "${lines[@]}"; do
		case $line in
		'') ;;
		:files)
			compset -P '--*='
			_files
			return
			;;
		:folders)
			compset -P '--*='
			_files -/
			return
			;;
		*)
			word=${line%%$'\t'*}
			about=${line#*$'\t'}
			if [[ -n $about && $about != "$line" ]]; then
				found+=("${word//:/\\:}:$about")
			else
				found+=("${word//:/\\:}")
			fi
			;;
		esac
	done
	_describe -V evener found
}

if [[ $funcstack[1] == _evener ]]; then
	_evener "$@" # the first use of a function that was loaded from $fpath
else
	compdef _evener evener
fi
