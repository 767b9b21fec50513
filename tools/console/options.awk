# options.awk - the options of a help text as C: what the text lists, getopt_long() takes.
#
# Of a text it makes the table `options` and the letters of short names, MST_LETTERS; with -v numbers=1,
# of all texts together, the members of enum mst_option. An option's number is its letter where a text
# gives it one. Lines that list options begin with blanks and a name: "  -o, --output FILE  ...".

function member(name) {
    gsub(/-/, "_", name)
    return "MST_OPTION_" toupper(name)
}

FNR == 1 { listing = 1 }
/^Examples:/ { listing = 0 }

listing && /^ +(-[A-Za-z], )?--[a-z]/ {
    rest = $0
    sub(/^ +/, "", rest)
    letter = ""
    if (rest ~ /^-[A-Za-z], /) {
        letter = substr(rest, 2, 1)
        rest = substr(rest, 5)
    }
    while (match(rest, /^--[a-z-]+/)) {
        name = substr(rest, 3, RLENGTH - 2)
        rest = substr(rest, RLENGTH + 1)
        takes = match(rest, /^ [A-Z]+/)
        if (takes)
            rest = substr(rest, RLENGTH + 1)
        if (!(name in number))
            names[++count] = name
        if (letter != "")
            number[name] = "'" letter "'"
        else if (number[name] == "")
            number[name] = ""
        if (letter != "")
            letters = letters letter (takes ? ":" : "")
        rows = rows "    { \"" name "\", " (takes ? "required" : "no") "_argument, NULL, " \
               member(name) " },\n"
        if (rest !~ /^, /)
            break
        rest = substr(rest, 3)
    }
}

END {
    print "/* Made of the help by options.awk. */"
    if (!numbers) {
        print "static const struct option options[] = {\n" rows "    { 0 },\n};"
        print "#define MST_LETTERS \":" letters "\""
        exit
    }
    for (i = 1; i <= count; i++)
        print member(names[i]) " = " (number[names[i]] != "" ? number[names[i]] : 255 + i) ","
}
