/**
 * Redis' protocol in front of a compute node: what listens, and how it is set. Must not know how operations are carried
 * out, nor what drives the node.
 */
package io.verbena.resp;
