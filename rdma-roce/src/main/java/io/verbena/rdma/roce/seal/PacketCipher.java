package io.verbena.rdma.roce.seal;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RocePacket;

import org.agrona.MutableDirectBuffer;

import javax.crypto.Cipher;
import javax.crypto.SecretKey;

/**
 * Seals what a queue pair sends, and opens what it receives, each direction with keys of its own. Every packet gets the
 * next count, one that is sent again too, since what it carries may be different then: no key and nonce are used twice.
 * Packets may be lost, overtake each other and come twice. Used by the engine's thread.
 */
public final class PacketCipher
{
    /** Of {@link #open}: the packet is not one that the peer has sealed for this queue pair, or was changed. */
    public static final int NOT_OPENED = -1;
    /** Of {@link #open}: the packet came before, or is too late to know whether it did. */
    public static final int REPLAYED = -2;

    private final PacketDirection sealing;
    private final PacketDirection opening;
    private final ReplayWindow window = new ReplayWindow();
    private final int keyShift;
    private KeyChain sendingKey;
    private long sent;
    private long receivingNumber;
    private KeyChain receivingBefore;
    private KeyChain receivingKey;
    /** Derived when a packet claims it, and kept, so that one that is forged costs that once. */
    private KeyChain receivingNext;

    /**
     * @param sending   secret of what this end sends, of no other connection.
     * @param receiving secret of what the peer sends.
     * @param scratch   see {@link #scratch}.
     */
    public PacketCipher(final SecretKey sending, final SecretKey receiving, final byte[] scratch)
    {
        this(sending, receiving, scratch, SealedPacketDescriptor.KEY_SHIFT);
    }

    /** As above; each key is for 2^{@code keyShift} packets. */
    PacketCipher(final SecretKey sending, final SecretKey receiving, final byte[] scratch, final int keyShift)
    {
        sealing = new PacketDirection(Cipher.ENCRYPT_MODE, scratch);
        opening = new PacketDirection(Cipher.DECRYPT_MODE, scratch);
        sendingKey = new KeyChain(sending);
        receivingKey = new KeyChain(receiving);
        this.keyShift = keyShift;
    }

    /** @return memory that all ciphers of one thread may share. */
    public static byte[] scratch()
    {
        return new byte[RocePacket.MAX_LENGTH_BYTES];
    }

    /**
     * Seals a packet where it stands.
     *
     * @param buffer of the packet; its BTH is complete.
     * @param end    where its headers, payload and padding end; {@link SealedPacketDescriptor#OVERHEAD_BYTES} more fit.
     * @return where the sealed packet ends, without ICRC.
     */
    public int seal(final MutableDirectBuffer buffer, final int end)
    {
        if (sent != 0 && (sent & (1L << keyShift) - 1) == 0)
        {
            sendingKey = sendingKey.next();
        }
        setVersion(buffer, SealedPacketDescriptor.VERSION);
        final int written = sealing.apply(sendingKey.key, sent, buffer, BthDescriptor.LENGTH_BYTES,
            end - BthDescriptor.LENGTH_BYTES, SealedPacketDescriptor.SEALED_OFFSET);
        SealedPacketDescriptor.encodeCounter(buffer, sent);
        sent++;
        return SealedPacketDescriptor.SEALED_OFFSET + written;
    }

    /**
     * Opens a packet where it stands; one that does not open is left as it is.
     *
     * @param buffer of the packet.
     * @param end    where it ends, without ICRC; at least the overhead behind its BTH.
     * @return where the packet in clear ends, without ICRC; or {@link #NOT_OPENED} or {@link #REPLAYED}.
     */
    public int open(final MutableDirectBuffer buffer, final int end)
    {
        final long counter = SealedPacketDescriptor.counter(buffer);
        if (!window.isNew(counter))
        {
            return REPLAYED;
        }
        final long number = counter >>> keyShift;
        final KeyChain chain = receiving(number);
        if (chain == null)
        {
            return NOT_OPENED;
        }
        final int written = opening.apply(chain.key, counter, buffer, SealedPacketDescriptor.SEALED_OFFSET,
            end - SealedPacketDescriptor.SEALED_OFFSET, BthDescriptor.LENGTH_BYTES);
        if (written < 0)
        {
            return NOT_OPENED;
        }
        window.add(counter);
        if (number > receivingNumber)
        {
            receivingBefore = receivingKey;
            receivingKey = chain;
            receivingNext = null;
            receivingNumber = number;
        }
        setVersion(buffer, 0);
        return BthDescriptor.LENGTH_BYTES + written;
    }

    /** Null where it is forgotten, or so far ahead that no peer has it. */
    private KeyChain receiving(final long number)
    {
        if (number == receivingNumber + 1)
        {
            if (receivingNext == null)
            {
                receivingNext = receivingKey.next();
            }
            return receivingNext;
        }
        return number == receivingNumber ? receivingKey : number == receivingNumber - 1 ? receivingBefore : null;
    }

    private static void setVersion(final MutableDirectBuffer buffer, final int version)
    {
        buffer.putByte(BthDescriptor.FLAGS_OFFSET,
            (byte)(buffer.getByte(BthDescriptor.FLAGS_OFFSET) & ~BthDescriptor.VERSION_MASK | version));
    }

    @Override
    public String toString()
    {
        return "PacketCipher{sealed=" + sent + '}';
    }
}
