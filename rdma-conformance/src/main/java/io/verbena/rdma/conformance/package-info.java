/**
 * The conformance suite of the verbs contract: one test a rule, run for each provider. Owns what a provider has to do;
 * must not know how it does it. JUnit is a compile dependency here, because {@code verbena fabric check} runs the suite
 * on a user's device.
 */
package io.verbena.rdma.conformance;
