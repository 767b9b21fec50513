# columns.awk - the archive's tables and columns as C, from schema.sql, which declares them.
#
# For each table, as `notes`, a struct notes_row with a value for each column, and a function
# insert_notes(); with -v names=1 instead the tables' and columns' names, in the same order.

/^CREATE TABLE/ {
    table = $6
    tables[++count] = table
    next
}
table != "" && /^ +[a-z][a-z0-9_]* +(INTEGER|TEXT|BLOB)/ {
    columns[table, ++width[table]] = $1
}
/^\)/ {
    table = ""
}

function put_names(t, k) {
    printf "{ \"%s\", %d, {", t, width[t]
    for (k = 1; k <= width[t]; k++)
        printf " \"%s\",", columns[t, k]
    print " } },"
}

function put_row(t, k) {
    printf "\nstruct %s_row {\n", t
    for (k = 1; k <= width[t]; k++)
        printf "    struct mst_value %s;\n", columns[t, k]
    printf "};\nstatic inline int insert_%s(struct mst_archive *a, const struct %s_row *row)\n", t, t
    printf "{\n    return mst_archive_put(a, TABLE_%s, &row->%s);\n}\n", toupper(t), columns[t, 1]
}

END {
    print "/* Made of schema.sql by columns.awk. */"
    if (!names) {
        print "enum {"
        for (i = 1; i <= count; i++)
            printf "    TABLE_%s,\n", toupper(tables[i])
        print "    TABLE_COUNT\n};"
    }
    for (i = 1; i <= count; i++)
        if (names)
            put_names(tables[i])
        else
            put_row(tables[i])
}
