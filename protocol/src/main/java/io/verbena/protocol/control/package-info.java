/**
 * Calls between nodes: the bytes of what is asked of the meta server and of memory nodes, the calling side
 * ({@link io.verbena.protocol.control.MetaClient}, {@link io.verbena.protocol.control.MemoryNodeClient}) and the
 * interfaces that the answering side implements ({@link io.verbena.protocol.control.MetaService},
 * {@link io.verbena.protocol.control.MemoryNodeService}). Formats stand in {@code docs/format/control-messages.md}.
 * Knows nothing of how questions are answered, nor what a table's descriptor means.
 */
package io.verbena.protocol.control;
