/** Dependency graphs: built, divided into strongly connected components, searched for the cycles of a shape. */
package io.verbena.elle.txn.graph;
