package io.verbena.rdma.connection;

import io.verbena.rdma.verbs.DeviceAddress;
import io.verbena.test.MessageFuzzer;

import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** What anybody may send who reaches the TCP port of a device. */
class ConnectionMessageFuzzTest
{
    private static final ConnectionMessage CLEAR = new ConnectionMessage(
        ConnectionMessage.REQUEST, 4711, 0x123456, 0xABCDEF, 5, 16, new DeviceAddress(1, 2, 3), new byte[60]);
    private final MessageFuzzer fuzzer = new MessageFuzzer(20, IllegalArgumentException.class);

    private static void take(final DirectBuffer buffer, final int offset, final int lengthBytes)
    {
        final int readBytes = Math.min(lengthBytes, 2 * ConnectionMessage.MAX_LENGTH_BYTES);
        final ByteBuffer received = ByteBuffer.allocate(2 * ConnectionMessage.MAX_LENGTH_BYTES);
        for (int i = 0; i < readBytes; i++)
        {
            received.put(buffer.getByte(offset + i));
        }
        final ConnectionMessage message = ConnectionMessage.take(received);
        if (message == null)
        {
            throw new IllegalArgumentException("it has not come wholly: " + readBytes);
        }
        final byte[] again = message.bytes();
        // Compared by hand: what an assertion allocates would count.
        if (received.position() != readBytes - again.length ||
            !Arrays.equals(again, ConnectionMessage.take(ByteBuffer.allocate(again.length).put(again)).bytes()))
        {
            throw new AssertionError("read as " + message + ", of which " + again.length + " bytes are written");
        }
    }

    @Test
    void shouldTakeOrRefuseMessages()
    {
        fuzzer.fuzz("message", CLEAR.bytes(), ConnectionMessageFuzzTest::take);
    }

    @Test
    void shouldTakeOrRefuseMessagesWithAProof()
    {
        final ConnectionMessage proved = CLEAR.proved(
            new byte[ConnectionMessage.RANDOM_LENGTH_BYTES], new byte[ConnectionMessage.PROOF_LENGTH_BYTES]);
        fuzzer.fuzz("message with a proof", proved.bytes(), ConnectionMessageFuzzTest::take);
    }
}
