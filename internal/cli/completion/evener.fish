# fish completion of evener. Written by: evener completion fish

function __evener_complete
    set -l before (commandline -opc)
    set -e before[1]
    set -l current (commandline -ct)
    set -l lead ''
    set -l value $current
    if string match -q -- '-*=*' $current
        set lead (string replace -r '=.*' '=' -- $current)
        set value (string replace -r '^[^=]*=' '' -- $current)
    end
    for line in (evener completion words -- $before "$current" 2>/dev/null)
        switch $line
            case :files
                for path in (__fish_complete_path "$value")
                    echo "$lead$path"
                end
            case :folders
                for path in (__fish_complete_directories "$value")
                    echo "$lead$path"
                end
            case '*'
                echo $line
        end
    end
end

complete -c evener -f -a '(__evener_complete)'
