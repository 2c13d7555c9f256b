/**
 * Checks histories of transactions: version orders, dependency graph, cycles, anomalies, and the consistency models
 * that they rule out.
 *
 * <p>Owns the definitions of the anomalies and the lattice of models. It must not know pictures, files or the command,
 * nor anything of the system that was observed.
 *
 * <p>Sources: Adya, Liskov, O'Neil, <i>Generalized Isolation Level Definitions</i> (2000), for the graph and the names;
 * Kingsbury, Alvaro, <i>Elle: Inferring Isolation Anomalies from Experimental Observations</i> (2020), for inferring
 * version orders from what clients saw; Cerone, Gotsman, <i>Analysing Snapshot Isolation</i> (2016), for the cycles
 * that snapshot isolation forbids.
 */
package io.verbena.elle.txn;
