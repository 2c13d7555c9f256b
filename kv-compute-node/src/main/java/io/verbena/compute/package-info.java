/**
 * The compute node and its session: joins a cluster, keeps its lease, takes requests of any thread, and ends in order.
 * It owns the hand-over of requests, wake-ups, the drain on leaving and the node's timeline; it must not know bit
 * layouts of tables, nor how clients choose a node. The packages below are the parts of a session; none needs this one.
 */
package io.verbena.compute;
