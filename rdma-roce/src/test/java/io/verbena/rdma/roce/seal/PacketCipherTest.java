package io.verbena.rdma.roce.seal;

import io.verbena.rdma.roce.wire.BthDescriptor;
import io.verbena.rdma.roce.wire.RoceOpcode;
import io.verbena.rdma.roce.wire.RocePacket;
import io.verbena.test.FormatPage;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.SplittableRandom;
import javax.crypto.Cipher;
import javax.crypto.Mac;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

import static org.assertj.core.api.Assertions.assertThat;

/** Both ends of a connection, and somebody between them. */
class PacketCipherTest
{
    private static final byte[] ONE = bytes(1);
    private static final byte[] OTHER = bytes(2);
    private static final int HEADER_BYTES = 28;
    private static final int NUMBER = 0x123456;
    /** BTH, RETH and 8 bytes of a WRITE_ONLY as the first packet of its direction; computed by another program. */
    private static final String GOLDEN = "0ac1ffff0012345680abcdef" + "0000000000000000" +
        "08878499a7e79112716c88e1d0e3fd45797a1bd92444578f" + "1a1d034b13313c5ea30909604f6828d4";

    private final byte[] scratch = PacketCipher.scratch();
    private final PacketCipher a = cipher(ONE, OTHER, SealedPacketDescriptor.KEY_SHIFT);
    private final PacketCipher b = cipher(OTHER, ONE, SealedPacketDescriptor.KEY_SHIFT);
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[RocePacket.MAX_LENGTH_BYTES]);

    private static byte[] bytes(final int first)
    {
        final byte[] bytes = new byte[32];
        for (int i = 0; i < bytes.length; i++)
        {
            bytes[i] = (byte)(first + i);
        }
        return bytes;
    }

    private PacketCipher cipher(final byte[] sending, final byte[] receiving, final int keyShift)
    {
        return new PacketCipher(secret(sending), secret(receiving), scratch, keyShift);
    }

    private static SecretKey secret(final byte[] bytes)
    {
        return new SecretKeySpec(bytes, "Generic");
    }

    /** A WRITE_ONLY of so many bytes, each of which is a 7; where it ends. */
    private int encode(final int payloadBytes)
    {
        BthDescriptor.encode(
            buffer, 0, RoceOpcode.RC | RoceOpcode.WRITE_ONLY, true, 0, NUMBER, true, 0xABCDEF);
        buffer.setMemory(BthDescriptor.LENGTH_BYTES, HEADER_BYTES - BthDescriptor.LENGTH_BYTES, (byte)5);
        buffer.setMemory(HEADER_BYTES, payloadBytes, (byte)7);
        return HEADER_BYTES + payloadBytes;
    }

    private byte[] sealed(final PacketCipher cipher, final int payloadBytes)
    {
        final byte[] packet = new byte[cipher.seal(buffer, encode(payloadBytes))];
        buffer.getBytes(0, packet);
        return packet;
    }

    private int open(final PacketCipher cipher, final byte[] packet)
    {
        buffer.setMemory(0, buffer.capacity(), (byte)0);
        buffer.putBytes(0, packet);
        return cipher.open(buffer, packet.length);
    }

    private void assertOpens(final PacketCipher cipher, final byte[] packet, final int payloadBytes)
    {
        assertThat(open(cipher, packet)).isEqualTo(HEADER_BYTES + payloadBytes);
        final byte[] opened = new byte[HEADER_BYTES + payloadBytes];
        buffer.getBytes(0, opened);
        final byte[] clear = new byte[encode(payloadBytes)];
        buffer.getBytes(0, clear);
        assertThat(opened).isEqualTo(clear);
    }

    @Test
    void shouldAgreeWithThePage() throws IOException
    {
        FormatPage.of("sealed-packet.md").shouldAgreeWith(SealedPacketDescriptor.class);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        assertThat(HexFormat.of().formatHex(sealed(a, 8))).isEqualTo(GOLDEN);
    }

    /** From HMAC and AES alone, for the third packet of a direction. */
    @Test
    void shouldSealAsThePageSays() throws GeneralSecurityException
    {
        sealed(a, 8);
        sealed(a, 8);
        final byte[] packet = sealed(a, 8);
        final Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(ONE, "HmacSHA256"));
        mac.update("verbena packet key".getBytes(StandardCharsets.US_ASCII));
        final byte[] key = Arrays.copyOf(mac.doFinal(new byte[]{1}), 16);
        final Cipher gcm = Cipher.getInstance("AES/GCM/NoPadding");
        gcm.init(Cipher.DECRYPT_MODE, new SecretKeySpec(key, "AES"),
            new GCMParameterSpec(128, ByteBuffer.allocate(12).putLong(4, 2).array()));
        final byte[] header = Arrays.copyOf(packet, BthDescriptor.LENGTH_BYTES);
        assertThat(header[BthDescriptor.FLAGS_OFFSET] & BthDescriptor.VERSION_MASK).isEqualTo(1);
        header[BthDescriptor.CONGESTION_OFFSET] = 0;
        gcm.updateAAD(header);
        final byte[] clear = new byte[encode(8)];
        buffer.getBytes(0, clear);
        assertThat(gcm.doFinal(packet, 20, packet.length - 20))
            .isEqualTo(Arrays.copyOfRange(clear, BthDescriptor.LENGTH_BYTES, clear.length));
    }

    @Test
    void shouldOpenWhatThePeerSealedOnceInAnyOrder()
    {
        final byte[][] packets = new byte[50][];
        for (int i = 0; i < packets.length; i++)
        {
            packets[i] = sealed(a, 4 * i);
        }
        for (int i = packets.length - 1; i >= 0; i--)
        {
            assertOpens(b, packets[i], 4 * i);
            assertThat(open(b, packets[i])).isEqualTo(PacketCipher.REPLAYED);
        }
    }

    @Test
    void shouldOpenThePacketsWithoutPayloadAndTheLongest()
    {
        assertOpens(b, sealed(a, 0), 0);
        assertOpens(b, sealed(a, RocePacket.MAX_PAYLOAD_BYTES), RocePacket.MAX_PAYLOAD_BYTES);
        final int end = a.seal(buffer, BthDescriptor.LENGTH_BYTES);
        assertThat(end).isEqualTo(BthDescriptor.LENGTH_BYTES + SealedPacketDescriptor.OVERHEAD_BYTES);
        assertThat(b.open(buffer, end)).isEqualTo(BthDescriptor.LENGTH_BYTES);
    }

    /** The same packet sent once more is other bytes: no nonce is used twice. */
    @Test
    void shouldSealTheSamePacketDifferentlyEachTime()
    {
        final byte[] first = sealed(a, 8);
        final byte[] second = sealed(a, 8);
        assertThat(Arrays.copyOfRange(first, 20, first.length))
            .isNotEqualTo(Arrays.copyOfRange(second, 20, second.length));
        assertThat(ByteBuffer.wrap(first).getLong(12)).isZero();
        assertThat(ByteBuffer.wrap(second).getLong(12)).isEqualTo(1);
    }

    @Test
    void shouldOpenNothingOfWhichAByteIsAnother()
    {
        final byte[] packet = sealed(a, 40);
        final byte[] before = packet.clone();
        for (int at = 0; at < packet.length; at++)
        {
            for (int bit = 0; bit < Byte.SIZE; bit++)
            {
                packet[at] ^= (byte)(1 << bit);
                if (at != BthDescriptor.CONGESTION_OFFSET)
                {
                    assertThat(open(b, packet)).as("byte %d", at).isNegative();
                    final byte[] left = new byte[packet.length];
                    buffer.getBytes(0, left);
                    assertThat(left).as("is left as it was").isEqualTo(packet);
                }
                packet[at] ^= (byte)(1 << bit);
            }
        }
        assertThat(packet).isEqualTo(before);
        packet[BthDescriptor.CONGESTION_OFFSET] = (byte)0xC0;
        assertThat(open(b, packet)).isEqualTo(HEADER_BYTES + 40);
    }

    @Test
    void shouldOpenNothingThatIsShorterOrLonger()
    {
        final byte[] packet = sealed(a, 40);
        for (int length = BthDescriptor.LENGTH_BYTES + SealedPacketDescriptor.OVERHEAD_BYTES;
            length < packet.length + 64; length++)
        {
            if (length != packet.length)
            {
                assertThat(open(b, Arrays.copyOf(packet, length))).as("length %d", length)
                    .isEqualTo(PacketCipher.NOT_OPENED);
            }
        }
        assertOpens(b, packet, 40);
    }

    @Test
    void shouldOpenNothingOfTheOtherDirectionOrConnection()
    {
        final byte[] packet = sealed(a, 8);
        assertThat(open(a, packet)).isEqualTo(PacketCipher.NOT_OPENED);
        assertThat(open(cipher(OTHER, bytes(3), 24), packet)).isEqualTo(PacketCipher.NOT_OPENED);
        assertThat(open(cipher(ONE, OTHER, 24), packet)).isEqualTo(PacketCipher.NOT_OPENED);
        assertOpens(b, packet, 8);
    }

    /** What does not open must not make what is genuine look late. */
    @Test
    void shouldOpenWhatIsGenuineAfterAnyNumberOfForgeries()
    {
        final byte[] packet = sealed(a, 8);
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 1_000; i++)
        {
            final byte[] forged = packet.clone();
            ByteBuffer.wrap(forged).putLong(12, i % 3 == 0 ? random.nextLong() : 1 + random.nextInt(1 << 26));
            assertThat(open(b, forged)).isNegative();
        }
        assertOpens(b, packet, 8);
    }

    @Test
    void shouldGoOnWithTheNextKeyAndTakePacketsThatOvertookTheChange()
    {
        final PacketCipher sender = cipher(ONE, OTHER, 2);
        final PacketCipher receiver = cipher(OTHER, ONE, 2);
        final byte[][] packets = new byte[40][];
        for (int i = 0; i < packets.length; i++)
        {
            packets[i] = sealed(sender, 4);
        }
        assertThat(Arrays.stream(packets).map((packet) -> HexFormat.of().formatHex(packet, 20, packet.length))
            .distinct()).hasSize(packets.length);
        for (int i = 0; i + 1 < packets.length; i += 2)
        {
            assertOpens(receiver, packets[i + 1], 4);
            assertOpens(receiver, packets[i], 4);
        }
    }

    @Test
    void shouldUseEachKeyForItsPacketsOnly()
    {
        final PacketCipher sender = cipher(ONE, OTHER, 2);
        final PacketCipher receiver = cipher(OTHER, ONE, 2);
        final PacketCipher unchanged = cipher(OTHER, ONE, 24);
        for (int i = 0; i < 4; i++)
        {
            assertOpens(unchanged, sealed(sender, 4), 4);
        }
        // The fifth has another key.
        assertThat(open(unchanged, sealed(sender, 4))).isEqualTo(PacketCipher.NOT_OPENED);
        // Two keys ahead is no key that a peer has, one is.
        sealed(sender, 4);
        sealed(sender, 4);
        sealed(sender, 4);
        assertThat(open(receiver, sealed(sender, 4))).isEqualTo(PacketCipher.NOT_OPENED);
    }

    /** Two keys later, what was sealed before opens no more. */
    @Test
    void shouldForgetKeys()
    {
        final PacketCipher sender = cipher(ONE, OTHER, 2);
        final PacketCipher receiver = cipher(OTHER, ONE, 2);
        final byte[][] packets = new byte[12][];
        for (int i = 0; i < packets.length; i++)
        {
            packets[i] = sealed(sender, 4);
        }
        assertOpens(receiver, packets[0], 4);
        assertOpens(receiver, packets[4], 4);
        assertOpens(receiver, packets[1], 4);
        assertOpens(receiver, packets[8], 4);
        assertThat(open(receiver, packets[2])).isEqualTo(PacketCipher.NOT_OPENED);
        assertOpens(receiver, packets[5], 4);
    }
}
