/**
 * Views of groups of memory nodes that keep the same tables: what the meta server records, memory nodes close and
 * compute nodes leave; see {@code docs/protocol/views.md}. Must not know how any of them does that.
 */
package io.verbena.protocol.view;
