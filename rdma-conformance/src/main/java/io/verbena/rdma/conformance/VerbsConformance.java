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
    @DisplayName("several segments of a request")
    final class Segments extends SegmentContract
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
    @DisplayName("states")
    final class States extends StateContract
    {
    }

    @Nested
    @DisplayName("READ and atomic depth, receiver not ready, retries")
    final class Retries extends RetryContract
    {
    }

    @Nested
    @DisplayName("asynchronous events of refused requests")
    final class AsyncEvents extends AsyncEventContract
    {
    }

    @Nested
    @DisplayName("UC queue pairs")
    final class Unreliable extends UnreliableContract
    {
    }

    @Nested
    @DisplayName("UD queue pairs")
    final class Datagrams extends DatagramContract
    {
    }

    @Nested
    @DisplayName("shared receive queues")
    final class SharedReceives extends SharedReceiveContract
    {
    }

    @Nested
    @DisplayName("memory windows")
    final class MemoryWindows extends MemoryWindowContract
    {
    }

    @Nested
    @DisplayName("DC initiators and targets")
    final class DynamicConnections extends DcContract
    {
    }

    @Nested
    @DisplayName("completion channels")
    final class Notifications extends NotificationContract
    {
    }

    @Nested
    @DisplayName("registering memory")
    final class Registration extends RegistrationContract
    {
    }

    @Nested
    @DisplayName("several keys to the same bytes")
    final class Keys extends KeysContract
    {
    }

    @Nested
    @DisplayName("random programs against a model")
    final class RandomPrograms extends RandomProgramContract
    {
    }
}
