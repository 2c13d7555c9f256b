/**
 * Compute nodes as pods of a Deployment or a StatefulSet, for the autoscaler. Knows the API of Kubernetes, and nothing
 * of the cluster that runs in the pods.
 */
package io.verbena.kubernetes;
