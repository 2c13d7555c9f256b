/**
 * The client behind its interface: checks arguments, chooses a compute node for each operation, keeps deadlines, and
 * follows compute nodes as they come and go. It must not know how tables are laid out in memory, which verbs an
 * operation takes, or which provider is underneath.
 */
package io.verbena.client.routing;
