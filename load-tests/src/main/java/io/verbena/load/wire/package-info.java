/**
 * Measures the RoCEv2 transport between two network namespaces against plain UDP: {@code verbena bench wire}. The
 * requester and each responder are processes of their own. Knows neither the command line nor files of results.
 */
package io.verbena.load.wire;
