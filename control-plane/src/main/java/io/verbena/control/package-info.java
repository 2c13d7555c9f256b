/**
 * Messages between nodes: what is asked of the meta server and of memory nodes, their bytes, the calling side
 * ({@link io.verbena.control.MetaClient}, {@link io.verbena.control.MemoryNodeClient}) and the interfaces that the
 * answering side implements ({@link io.verbena.control.MetaService}, {@link io.verbena.control.MemoryNodeService}).
 * Formats stand in {@code docs/format/control-messages.md}. Knows nothing of how questions are answered, nor what a
 * table's descriptor means.
 */
package io.verbena.control;
