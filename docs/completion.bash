# bash completion for heatsolve. It asks the program, so it knows what the program knows.

_heatsolve() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local program=${COMP_WORDS[0]} command=${COMP_WORDS[1]}
    COMPREPLY=()

    if [ "$COMP_CWORD" -eq 1 ]; then
        COMPREPLY=($(compgen -W "$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\) .*/\1/p') --help --version" -- "$current"))
        return
    fi

    case $previous in
    --set)
        # a key is followed by "=" and its value
        local keys
        keys=$("$program" options --keys 2>/dev/null | sed 's/\[\]/[0]/; s/$/=/')
        COMPREPLY=($(compgen -W "$keys" -- "$current"))
        compopt -o nospace 2>/dev/null
        return
        ;;
    -o | --output | --roofline | --chart)
        mapfile -t COMPREPLY < <(compgen -f -- "$current")
        compopt -o filenames 2>/dev/null
        return
        ;;
    esac

    # bash takes a key, "=" and its value apart
    local key= of=$previous
    case $previous:$current in
    =:*) key=${COMP_WORDS[COMP_CWORD - 2]} ;;
    *:=) key=$previous current= ;;
    esac
    if [ -n "$key" ]; then of="key $key"; fi

    local words=
    case $of in
    --kernel | --except | 'key solver.kernel')
        words=$("$program" kernels 2>/dev/null | awk 'NR > 1 && !/ \(not built\)$|^cuda: / {print $1}')
        if [ "$command" = verify ]; then words="$words all"; fi
        ;;
    --precision) words='float double' ;;
    --backend) words='cpu cuda' ;;
    --map) words=$("$program" render --help 2>/dev/null | sed -n 's/^  --map NAME *\(.*\)/\1/p' | sed 's/([a-z]*)//; s/,//g') ;;
    --step) words='last all' ;;
    --slice) words='x y z' ;;
    --plot) words='probes history' ;;
    --points | --dims | --radius | --block | --planes | --steps | --sweeps | --power | --threads | --repeats | --registers | \
        --width | --range | --time | --contours | --fps | --peer | --peer-seconds | --device) return ;; # numbers and the like
    key\ *) # the choices that the key has
        words=$("$program" options 2>/dev/null | sed 's/|/ | /g' |
            awk -v key="$(echo "$key" | sed 's/^boundary\.[a-z_]*\./boundary.FACE./; s/\[[0-9]*\]/[]/')" \
                '$1 == key {for (i = 2; i <= NF; i++) if ($(i - 1) == "|" || $(i + 1) == "|") print $i}' | grep -v '|')
        if [ -z "$words" ]; then return; fi
        ;;
    esac
    if [ -n "$words" ]; then
        COMPREPLY=($(compgen -W "$words" -- "$current"))
        return
    fi

    case $current in
    -*)
        COMPREPLY=($(compgen -W "$("$program" "$command" --help 2>/dev/null | grep -oE -e '--[a-z][a-z-]*' | sort -u) --help" -- "$current"))
        return
        ;;
    esac

    case $command in
    run | check | verify | tune | kernels) mapfile -t COMPREPLY < <(compgen -f -X '!*.cfg' -- "$current"; compgen -d -- "$current") ;;
    render) mapfile -t COMPREPLY < <(compgen -f -X '!*.@(h5|hdf|vtkhdf)' -- "$current"; compgen -d -- "$current") ;;
    explain) COMPREPLY=($(compgen -W "$("$program" kernels 2>/dev/null | awk '$2 == "cuda" {print $1}')" -- "$current")) ;;
    init) COMPREPLY=($(compgen -W "$("$program" init --list 2>/dev/null | awk '{print $1}')" -- "$current")) ;;
    esac
    compopt -o filenames 2>/dev/null
}

shopt -s extglob
complete -F _heatsolve heatsolve
