/**
 * The commands that run one role in the foreground: meta server, memory node, compute node.
 */
package io.verbena.cli.role;
