/**
 * What clients saw, in the words of a model of the linearizability checker. For the demo, and for tests of clusters of
 * processes.
 * <p>
 * Must not know any load run.
 */
package io.verbena.load.history;
