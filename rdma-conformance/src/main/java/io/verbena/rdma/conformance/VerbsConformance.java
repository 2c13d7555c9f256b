package io.verbena.rdma.conformance;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * The verbs contract, one rule a test, with its bad twin; every path runs all of it. Run by {@link ConformanceRun}. The
 * groups follow the verbs specification and its manual pages; the name of a method says the rule.
 */
@ExtendWith(RuleExtension.class)
final class VerbsConformance
{
    @Nested
    @DisplayName("connection service")
    final class Connections extends ConnectionContract
    {
    }

    @Nested
    @DisplayName("data and operations")
    final class Data extends DataContract
    {
    }

    @Nested
    @DisplayName("order")
    final class Order extends OrderContract
    {
    }

    @Nested
    @DisplayName("keys, bounds and rights")
    final class Protection extends ProtectionContract
    {
    }

    @Nested
    @DisplayName("queues, signalling and lifetimes")
    final class Queues extends QueueContract
    {
    }

    @Nested
    @DisplayName("random programs against a model")
    final class RandomPrograms extends RandomProgramContract
    {
    }
}
