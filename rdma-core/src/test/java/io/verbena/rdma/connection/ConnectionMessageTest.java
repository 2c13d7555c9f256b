package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.rdma.verbs.RdmaException;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.reflect.Field;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.SplittableRandom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ConnectionMessageTest
{
    private static final ConnectionMessage MESSAGE = new ConnectionMessage(
        ConnectionMessage.REQUEST, 4711, 0x123456, 0xABCDEF, 5, 16,
        new DeviceAddress(0x0102030405060708L, 0x1112131415161718L, 0x2122232425262728L), new byte[]{1, 2, 3});
    private static final String GOLDEN =
        "5649424300010001" + "0000126700123456" + "00abcdef05100003" + "0102030405060708" + "1112131415161718" +
        "2122232425262728" + "010203";

    @Test
    void shouldWriteTheseBytes()
    {
        final ByteBuffer bytes = MESSAGE.encode();
        final byte[] array = new byte[bytes.remaining()];
        bytes.get(array);
        assertThat(HexFormat.of().formatHex(array)).isEqualTo(GOLDEN);
    }

    @Test
    void shouldTakeMessagesWithAProofAsTheirBytesArrive()
    {
        final byte[] random = HexFormat.of().parseHex("404142434445464748494a4b4c4d4e4f");
        final byte[] proof = HexFormat.of().parseHex("505152535455565758595a5b5c5d5e5f");
        final ConnectionMessage proved = MESSAGE.proved(random, proof);
        final byte[] bytes = proved.bytes();
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(GOLDEN.replaceFirst("00010001", "00020001") +
            "404142434445464748494a4b4c4d4e4f" + "505152535455565758595a5b5c5d5e5f");
        final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
        for (int i = 0; i < bytes.length; i++)
        {
            assertThat(ConnectionMessage.take(received)).isNull();
            received.put(bytes[i]);
        }
        assertThat(ConnectionMessage.take(received)).usingRecursiveComparison().isEqualTo(proved);
        assertThat(received.position()).isZero();
        final ConnectionMessage longest = new ConnectionMessage(1, 1, 1, 1, 1, 1, MESSAGE.source(), new byte[196]);
        assertThat(longest.proved(random, proof).bytes()).hasSize(ConnectionMessage.MAX_LENGTH_BYTES);
    }

    @Test
    void shouldTakeMessagesAsTheirBytesArrive()
    {
        final byte[] bytes = HexFormat.of().parseHex(GOLDEN + GOLDEN);
        final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
        int taken = 0;
        for (int i = 0; i < bytes.length; i++)
        {
            received.put(bytes[i]);
            final ConnectionMessage message = ConnectionMessage.take(received);
            assertThat(message != null).isEqualTo(i == bytes.length / 2 - 1 || i == bytes.length - 1);
            if (message != null)
            {
                taken++;
                assertThat(message).usingRecursiveComparison().isEqualTo(MESSAGE);
            }
        }
        assertThat(taken).isEqualTo(2);
        assertThat(received.position()).isZero();
    }

    @Test
    void shouldRefuseWhatIsNoMessageAndKeepValuesOfOthersInBounds()
    {
        final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
        final SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < 1_000; i++)
        {
            final byte[] noise = new byte[ConnectionMessage.HEADER_LENGTH_BYTES];
            random.nextBytes(noise);
            received.clear().put(noise);
            assertThatThrownBy(() -> ConnectionMessage.take(received)).isInstanceOf(IllegalArgumentException.class);
            received.putInt(0, ConnectionMessage.MAGIC).putShort(4, (short)1).putShort(22, (short)0);
            final ConnectionMessage message = ConnectionMessage.take(received);
            assertThat(message.mtu()).isBetween(1, 5);
            assertThat(message.queuePairNumber()).isBetween(0, 0xFF_FFFF);
            assertThat(message.maxReadAtomic()).isBetween(0, 255);
        }
        received.clear().put(HexFormat.of().parseHex(GOLDEN)).putShort(22, (short)197);
        assertThatThrownBy(() -> ConnectionMessage.take(received)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldBeDocumentedWithTheseOffsets() throws IOException, IllegalAccessException
    {
        final String page = Files.readString(Path.of("..", "docs", "format", "ibverbs-connection.md"));
        for (final Field field : ConnectionMessage.class.getDeclaredFields())
        {
            if (field.getName().endsWith("_OFFSET") || field.getName().endsWith("_LENGTH_BYTES"))
            {
                assertThat(page).contains("| `" + field.getName() + "` | " + field.getInt(null) + " |");
            }
        }
    }

    @Test
    void shouldLocateTheServiceByTheGidOrByAnAddressOfItsOwn() throws IOException
    {
        final InetAddress own = InetAddress.getByAddress(new byte[]{10, 9, 0, (byte)200});
        final long gidLow = 0xFFFF_0A09_0001L;
        final DeviceAddress byGid = new DeviceAddress(0, gidLow, ServiceLocator.of(0, null, 40_000));
        final DeviceAddress byHost = new DeviceAddress(0xFE80L << 48, 1, ServiceLocator.of(0xFFFE, own, 65_535));

        assertThat(ServiceLocator.socketAddress(byGid)).isEqualTo(new InetSocketAddress("10.9.0.1", 40_000));
        assertThat(ServiceLocator.socketAddress(byHost)).isEqualTo(new InetSocketAddress(own, 65_535));
        assertThat(ServiceLocator.lid(byHost)).isEqualTo(0xFFFE);
        assertThat(ServiceLocator.socketAddress(new DeviceAddress(1, 2))).isNull();
    }

    @Test
    void shouldKeepTheProcessApartFromTheAddressInMarkedLocators()
    {
        final DeviceAddress marked = new DeviceAddress(0, 0xFFFF_0A09_0001L, ServiceLocator.ofMarked(65_535, -2));
        assertThat(ServiceLocator.socketAddress(marked)).isEqualTo(new InetSocketAddress("10.9.0.1", 65_535));
        assertThat(ServiceLocator.processId(marked)).isEqualTo(-2);
        assertThat(ServiceLocator.isMarked(marked)).isTrue();
        final DeviceAddress plain = new DeviceAddress(0, 1, ServiceLocator.of(7, null, 65_535));
        assertThat(ServiceLocator.isMarked(plain)).isFalse();
        assertThat(ServiceLocator.processId(plain)).isZero();
        assertThatThrownBy(() -> ServiceLocator.of(7, null, 7)).isInstanceOf(RdmaException.class);
    }
}
