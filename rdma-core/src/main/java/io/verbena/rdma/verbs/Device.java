package io.verbena.rdma.verbs;

import org.agrona.concurrent.NanoClock;

import java.security.SecureRandom;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * An open device ({@code struct ibv_context}) together with its connection service, which plays the part that
 * {@code librdmacm} plays for verbs: it exchanges queue pair numbers and moves both ends to RTS. Thread-safe, except
 * what its children say. Closed by its opener, after everything made from it.
 */
public interface Device extends AutoCloseable
{
    /**
     * What a device that sends packets by itself has counted since it was opened.
     *
     * @param sent          packets sent, those sent again included.
     * @param received      packets that arrived, whatever became of them.
     * @param resent        packets sent again, because they or their answers were lost or late.
     * @param timeouts      times that no answer came, so that packets were sent again.
     * @param invalid       packets dropped because they were damaged, malformed or for nobody here.
     * @param unsendable    packets not sent, for want of memory in the kernel or of a way to their destination.
     * @param notifications reports of peers that packets met congestion.
     */
    record NetworkCounters(
        long sent, long received, long resent, long timeouts, long invalid, long unsendable, long notifications)
    {
        /** @return the sums of both. */
        public NetworkCounters plus(final NetworkCounters other)
        {
            return new NetworkCounters(sent + other.sent, received + other.received, resent + other.resent,
                timeouts + other.timeouts, invalid + other.invalid, unsendable + other.unsendable,
                notifications + other.notifications);
        }
    }

    /**
     * Connections that a device has refused since it was opened, or answers to its own that it has not taken, because
     * the peer did not prove the key that packets are sealed with.
     *
     * @param count 0 or more.
     * @param last  address of the last peer; empty: there was none.
     */
    record RefusedConnections(long count, String last)
    {
        /** None. */
        public static final RefusedConnections NONE = new RefusedConnections(0, "");
    }

    /** @return name, for messages. */
    String name();

    /** @return what it can do. */
    DeviceAttributes attributes();

    /** @return its port, as far as there is one. */
    default PortAttributes port()
    {
        throw new UnsupportedVerbException("port attributes", name());
    }

    /** @return words for the pages of memory that it allocates, and why not huge ones if these were asked for. */
    default String memoryPages()
    {
        return "as the operating system gives them";
    }

    /**
     * Explains a gap.
     *
     * @param capability that the attributes lack.
     * @return why this device lacks it and what to do, in one line; empty when it has it, or there is no more to say.
     */
    default String missing(final DeviceCapability capability)
    {
        return "";
    }

    /** @return the ways that messages of its connections can take, see {@link QueuePair#transport()}; may be empty. */
    default List<String> transports()
    {
        return List.of();
    }

    /**
     * @return what it has counted, perhaps a moment ago; null where hardware or shared memory carries messages, of
     *     which it counts nothing. Any thread.
     */
    default NetworkCounters networkCounters()
    {
        return null;
    }

    /** @return with which secret packets of connections that are made here are sealed; null: they go in clear. */
    default ConnectionRequest.PacketSeal packetSeal()
    {
        return null;
    }

    /** @return what it has refused because of its key; none where it has no key. Any thread. */
    default RefusedConnections refusedConnections()
    {
        return RefusedConnections.NONE;
    }

    /** @return its address on the fabric. */
    DeviceAddress address();

    /**
     * What a peer that connects by {@link QueuePair#modify} names as the destination.
     *
     * @param queuePair of this device.
     * @return {@link #address()}, unless the device has several ports.
     */
    default DeviceAddress address(final QueuePair queuePair)
    {
        return address();
    }

    /** @return the clock of this fabric: real time, or virtual time under {@code sim}. Use no other one. */
    NanoClock clock();

    /**
     * @return numbers for ids that nobody else is to have, and that nobody is to guess: by the operating system, or by
     *     the seed under {@code sim}. Use no other ones. Thread-safe where the device is.
     */
    default RandomGenerator random()
    {
        return SystemRandom.INSTANCE;
    }

    /** @return a new protection domain. */
    ProtectionDomain allocateProtectionDomain();

    /**
     * @param capacity most completions it has to hold, 1 or more.
     * @return a new completion queue.
     */
    CompletionQueue createCompletionQueue(int capacity);

    /**
     * @param capacity most completions it has to hold, 1 or more.
     * @param channel  of this device, where it raises the notifications it is armed for.
     * @return a new completion queue.
     */
    default CompletionQueue createCompletionQueue(final int capacity, final CompletionChannel channel)
    {
        throw new UnsupportedVerbException("completion channel", name());
    }

    /** @return a new completion channel, closed by the caller. */
    default CompletionChannel createCompletionChannel()
    {
        throw new UnsupportedVerbException("completion channel", name());
    }

    /**
     * Takes the oldest asynchronous event and acknowledges it; never blocks. Any thread.
     *
     * @return the event, or null when there is none.
     */
    default AsyncEvent pollAsyncEvent()
    {
        throw new UnsupportedVerbException("asynchronous events", name());
    }

    /**
     * Accepts connections at a service port of this device.
     *
     * @param servicePort 1 to 65,535, free on this device.
     * @return the listener, closed by the caller.
     */
    ConnectionListener listen(int servicePort);

    /**
     * As {@link #listen(int)}; where {@link #wakesForConnections()}, a request ends a wait on a channel.
     *
     * @param servicePort 1 to 65,535, free on this device.
     * @param channel     of this device, closed after the listener.
     * @return the listener, closed by the caller.
     */
    default ConnectionListener listen(final int servicePort, final CompletionChannel channel)
    {
        return listen(servicePort);
    }

    /** @return whether requests of connections end the wait on a listener's channel; otherwise listeners are polled. */
    default boolean wakesForConnections()
    {
        return false;
    }

    /**
     * @return whether a poll that finds nothing costs a system call, as where packets come through the kernel. Then a
     *     wait on a channel costs little more and leaves the processor to others, so that owners wait after few polls;
     *     {@link CompletionChannel#wake()} ends such a wait. Such a device has completion channels.
     */
    default boolean pollsBySystemCall()
    {
        return false;
    }

    /**
     * Connects with every remote right given to the peer, as {@code librdmacm} does; otherwise as
     * {@link #connect(QueuePair, DeviceAddress, int, int, byte[], long)}.
     *
     * @param queuePair   in state RESET.
     * @param target      the peer device.
     * @param servicePort where the peer listens.
     * @param privateData shown to the peer, up to {@link ConnectionRequest#MAX_PRIVATE_DATA_BYTES}.
     * @param timeoutNs   after which the attempt fails by itself.
     * @return the attempt, to be polled by the owner of the queue pair.
     */
    default ConnectionAttempt connect(
        final QueuePair queuePair,
        final DeviceAddress target,
        final int servicePort,
        final byte[] privateData,
        final long timeoutNs)
    {
        return connect(queuePair, target, servicePort, AccessFlags.ALL_REMOTE, privateData, timeoutNs);
    }

    /**
     * Begins to connect a queue pair in state RESET; returns at once.
     *
     * @param queuePair   becomes INIT now, so that receives can be posted, and RTS when the attempt succeeds; RESET
     *                    again when it fails.
     * @param target      the peer device.
     * @param servicePort where the peer listens.
     * @param accessFlags rights the peer has through this queue pair, see {@link AccessFlags}.
     * @param privateData shown to the peer, up to {@link ConnectionRequest#MAX_PRIVATE_DATA_BYTES}.
     * @param timeoutNs   after which the attempt fails by itself.
     * @return the attempt, to be polled by the owner of the queue pair.
     */
    ConnectionAttempt connect(
        QueuePair queuePair,
        DeviceAddress target,
        int servicePort,
        int accessFlags,
        byte[] privateData,
        long timeoutNs);

    @Override
    void close();

    /** Random numbers of the operating system; made when the first is asked for, which takes some milliseconds. */
    final class SystemRandom
    {
        private static final SecureRandom INSTANCE = new SecureRandom();

        private SystemRandom()
        {
        }
    }
}
