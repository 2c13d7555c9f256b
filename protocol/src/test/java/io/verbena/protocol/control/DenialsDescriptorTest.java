package io.verbena.protocol.control;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.DeniedOperations;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteOrder;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class DenialsDescriptorTest
{
    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[16 << 10]);

    @Test
    void shouldReadBackTheMostThatThereCanBe()
    {
        final String longest = "x".repeat(DeniedOperations.MAX_TEXT_BYTES);
        for (final List<DeniedOperations> denied : List.of(List.<DeniedOperations>of(),
            List.of(new DeniedOperations("user ann", "GET in table t", 3)),
            Collections.nCopies(DeniedOperations.MAX_REPORTED, new DeniedOperations(longest, longest, Long.MAX_VALUE))))
        {
            final int length = DenialsDescriptor.encode(denied, buffer, 8);
            assertThat(DenialsDescriptor.decode(buffer, 8, length)).isEqualTo(denied);
        }
    }

    @Test
    void shouldFitAMessage()
    {
        final String longest = "x".repeat(DeniedOperations.MAX_TEXT_BYTES);
        assertThat(DenialsDescriptor.encode(Collections.nCopies(DeniedOperations.MAX_REPORTED,
            new DeniedOperations(longest, longest, 1)), buffer, 0))
            .isLessThanOrEqualTo(io.verbena.raas.RpcClient.MAX_MESSAGE_BYTES);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        final int length = DenialsDescriptor.encode(List.of(new DeniedOperations("a", "bc", 3)), buffer, 0);
        final byte[] bytes = new byte[length];
        buffer.getBytes(0, bytes);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(
            "0200000000000000" + "0100000000000000" + "0300000000000000" + "0100" + "0200" + "616263");
    }

    @Test
    void shouldCutLongTexts()
    {
        final int length = DenialsDescriptor.encode(
            List.of(new DeniedOperations("w".repeat(151), "v".repeat(5_000), 3)), buffer, 0);
        assertThat(DenialsDescriptor.decode(buffer, 0, length)).containsExactly(
            new DeniedOperations("w".repeat(150), "v".repeat(150), 3));
    }

    @Test
    void shouldRefuseWhatNoNodeReports()
    {
        final int length = DenialsDescriptor.encode(List.of(new DeniedOperations("a", "bc", 3)), buffer, 0);
        for (int cut = 0; cut < length; cut++)
        {
            final int shorter = cut;
            assertThatThrownBy(() -> DenialsDescriptor.decode(buffer, 0, shorter)).isInstanceOf(ControlException.class);
        }
        refuse(DenialsDescriptor.COUNT_OFFSET, 13);
        refuse(DenialsDescriptor.COUNT_OFFSET, -1);
        refuse(DenialsDescriptor.ENTRIES_OFFSET, 0);
        refuse(DenialsDescriptor.ENTRIES_OFFSET + DenialsDescriptor.ENTRY_WHO_LENGTH_OFFSET, 151);
        refuse(DenialsDescriptor.ENTRIES_OFFSET + DenialsDescriptor.ENTRY_WHO_LENGTH_OFFSET, 151 << 16);
    }

    private void refuse(final int offset, final int value)
    {
        DenialsDescriptor.encode(List.of(new DeniedOperations("a", "bc", 3)), buffer, 0);
        buffer.putInt(offset, value, ByteOrder.LITTLE_ENDIAN);
        assertThatThrownBy(() -> DenialsDescriptor.decode(buffer, 0, buffer.capacity()))
            .isInstanceOf(ControlException.class).hasMessageContaining("denials");
    }
}
