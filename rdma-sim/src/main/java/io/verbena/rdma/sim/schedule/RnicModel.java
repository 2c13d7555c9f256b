package io.verbena.rdma.sim.schedule;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;

/**
 * What an RNIC costs, so that a simulated fabric predicts time ({@link SimFabricOptions#rnicModel}). Values come from a
 * properties file that says for each where it was taken from. All are 1 or more.
 *
 * @param qpContextCacheEntries queue pairs whose context the NIC holds.
 * @param qpContextMissNs       time to fetch a context that is not held.
 * @param qpContextFetches      contexts being fetched at once.
 * @param processingUnits       units that process work requests and packets in parallel.
 * @param workRequestNs         time of a unit for a work request.
 * @param packetNs              time of a unit for a packet.
 * @param doorbellNs            time of the NIC for a doorbell, one after the other.
 * @param dmaReadNs             latency of reading host memory.
 * @param dmaWriteNs            latency of writing host memory.
 * @param atomicNs              time of the unit for atomics, one after the other.
 * @param linkGbps              bandwidth of a link, gigabits per second.
 * @param linkLatencyNs         one way, cables and switch.
 * @param mtuBytes              payload of a packet.
 * @param packetOverheadBytes   what a packet occupies beyond its payload.
 * @param switchBufferBytes     what may wait in the switch for one link; more pauses those who send (lossless link).
 * @param arbitrationPackets    packets of a READ response in one turn of a queue pair.
 * @param dcConnectNs           of a unit, for connecting a DC initiator to another target; waiting for what is
 *                              outstanding, and one more packet, come on top.
 * @param udHeaderBytes         what a datagram occupies beyond that.
 */
public record RnicModel(
    int qpContextCacheEntries,
    long qpContextMissNs,
    int qpContextFetches,
    int processingUnits,
    long workRequestNs,
    long packetNs,
    long doorbellNs,
    long dmaReadNs,
    long dmaWriteNs,
    long atomicNs,
    int linkGbps,
    long linkLatencyNs,
    int mtuBytes,
    int packetOverheadBytes,
    int switchBufferBytes,
    int arbitrationPackets,
    long dcConnectNs,
    int udHeaderBytes)
{
    /** Name of the model that {@link #load} finds: ConnectX-3, 40 Gb/s RoCE. */
    public static final String CONNECTX3_ROCE = "connectx3-roce";

    private static final int BITS_PER_BYTE = 8;

    /**
     * Reads a model that comes with this module.
     *
     * @param name such as {@link #CONNECTX3_ROCE}.
     * @return the model.
     * @throws IllegalArgumentException when there is none of this name, or it has bad values.
     */
    public static RnicModel load(final String name)
    {
        try (InputStream file = RnicModel.class.getResourceAsStream(name + ".properties"))
        {
            if (file == null)
            {
                throw new IllegalArgumentException("no RNIC model has this name: " + name);
            }
            final Properties properties = new Properties();
            properties.load(file);
            return of(properties);
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * Makes a model of properties.
     *
     * @param properties all values, named as in the files, and no other.
     * @return the model.
     * @throws IllegalArgumentException naming what is missing, unknown, or less than 1.
     */
    public static RnicModel of(final Properties properties)
    {
        final Set<String> unread = new TreeSet<>(properties.stringPropertyNames());
        final RnicModel model = new RnicModel(
            (int)value(properties, "qp_context_cache_entries", unread),
            value(properties, "qp_context_miss_ns", unread),
            (int)value(properties, "qp_context_fetches", unread),
            (int)value(properties, "processing_units", unread),
            value(properties, "work_request_ns", unread),
            value(properties, "packet_ns", unread),
            value(properties, "doorbell_ns", unread),
            value(properties, "dma_read_ns", unread),
            value(properties, "dma_write_ns", unread),
            value(properties, "atomic_ns", unread),
            (int)value(properties, "link_gbps", unread),
            value(properties, "link_latency_ns", unread),
            (int)value(properties, "mtu_bytes", unread),
            (int)value(properties, "packet_overhead_bytes", unread),
            (int)value(properties, "switch_buffer_bytes", unread),
            (int)value(properties, "arbitration_packets", unread),
            value(properties, "dc_connect_ns", unread),
            (int)value(properties, "ud_header_bytes", unread));
        if (!unread.isEmpty())
        {
            throw new IllegalArgumentException("unknown values of an RNIC model: " + unread);
        }
        return model;
    }

    /** @return packets of a message; 1 for an empty one. */
    public int packets(final int lengthBytes)
    {
        return Math.max(1, (lengthBytes + mtuBytes - 1) / mtuBytes);
    }

    /** @return how long payload with the overhead of its packets occupies a link. */
    public long wireNs(final int lengthBytes, final int packets)
    {
        return ((long)lengthBytes + (long)packets * packetOverheadBytes) * BITS_PER_BYTE / linkGbps;
    }

    private static long value(final Properties properties, final String name, final Set<String> unread)
    {
        final String text = properties.getProperty(name);
        unread.remove(name);
        if (text == null || !text.strip().matches("[1-9][0-9]{0,8}"))
        {
            throw new IllegalArgumentException(
                "RNIC model: " + name + " must be a number from 1 to 999999999, but is " + text);
        }
        return Long.parseLong(text.strip());
    }
}
