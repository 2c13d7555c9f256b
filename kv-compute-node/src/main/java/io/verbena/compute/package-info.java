/**
 * The compute node: joins a cluster, keeps its lease, and runs operations of many threads on one-sided table engines.
 * It owns the hand-over of requests, wake-ups, the drain on leaving and the node's timeline; it must not know bit
 * layouts of tables, nor how clients choose a node.
 */
package io.verbena.compute;
