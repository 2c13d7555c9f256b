/**
 * A whole cluster in this process: the same meta server, memory nodes and compute nodes that run as processes, each on
 * a thread of its own over the {@code soft} fabric. It owns their threads, their start-up and their end; it must not
 * know what they say to each other.
 */
package io.verbena.embedded;
