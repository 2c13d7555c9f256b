/**
 * What a compute node counts and reports about itself: the timeline of its join, unexpected failures, the memory that
 * it holds. Nothing here acts, and nothing here needs another package of the node.
 */
package io.verbena.compute.figures;
