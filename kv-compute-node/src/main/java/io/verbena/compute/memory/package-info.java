/**
 * The connections of a session to memory nodes, and the index chunks on their way back to them.
 */
package io.verbena.compute.memory;
