/* verbs.h - the verbs: main.c's table points at these, a file each.
 *
 * A verb gets argv with its own name as argv[0] and returns an enum mst_exit.
 * It writes results to stdout through stdio and need not flush: main does, and
 * checks that it arrived. SIGPIPE is ignored: code that executes another program
 * sets it back to SIG_DFL in the child first.
 */
#ifndef MPMSTAT_VERBS_H
#define MPMSTAT_VERBS_H

int mst_verb_status(int argc, char **argv);
int mst_verb_top(int argc, char **argv);
int mst_verb_serve(int argc, char **argv);
int mst_verb_explain(int argc, char **argv);
int mst_verb_record(int argc, char **argv);
int mst_verb_import(int argc, char **argv);
int mst_verb_report(int argc, char **argv);
int mst_verb_export(int argc, char **argv);
int mst_verb_capacity(int argc, char **argv);
int mst_verb_compare(int argc, char **argv);
int mst_verb_whatif(int argc, char **argv);
int mst_verb_lab(int argc, char **argv);
int mst_verb_fields(int argc, char **argv);

#endif
