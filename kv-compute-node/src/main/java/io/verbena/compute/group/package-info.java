/**
 * Groups of memory nodes as a compute node sees them: which views there are, ports to their memory under the present
 * view, chunks that all members lease, and the work of the node that is named to make copies equal.
 */
package io.verbena.compute.group;
