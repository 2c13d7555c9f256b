package io.verbena.client;

import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** Bytes of text, numbers and buffers, and back. */
class KvCodecTest
{
    @Test
    void shouldGiveBackTextOrRefuseIt()
    {
        for (final String text : new String[]{"", "hello", "häßlich \uD83D\uDE00", "\u0000\uFFFD"})
        {
            final byte[] bytes = KvCodec.UTF_8.encode(text);
            assertThat(bytes).isEqualTo(text.getBytes(StandardCharsets.UTF_8));
            assertThat(KvCodec.UTF_8.decode(bytes)).isEqualTo(text);
        }
        assertThatThrownBy(() -> KvCodec.UTF_8.encode("a\uD83D")).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("text of 2 characters").hasMessageContaining("surrogate");
        assertThatThrownBy(() -> KvCodec.UTF_8.decode(new byte[]{'a', (byte)0xff}))
            .isInstanceOf(KvInvalidRequestException.class).hasMessageContaining("2 bytes are not text in UTF-8");
    }

    @Test
    void shouldGiveBackNumbersAsCountersHaveThem()
    {
        assertThat(KvCodec.LONG.encode(258L)).containsExactly(2, 1, 0, 0, 0, 0, 0, 0);
        for (final long number : new long[]{0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE})
        {
            assertThat(KvCodec.LONG.decode(KvCodec.LONG.encode(number))).isEqualTo(number);
        }
        assertThatThrownBy(() -> KvCodec.LONG.decode(new byte[7])).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("7 bytes").hasMessageContaining("8");
    }

    @Test
    void shouldCopyWhatABufferHasLeft()
    {
        final byte[] array = {1, 2, 3, 4};
        final ByteBuffer buffer = ByteBuffer.wrap(array).position(1).limit(3);
        final byte[] bytes = KvCodec.BYTE_BUFFER.encode(buffer.asReadOnlyBuffer());
        array[1] = 9;
        assertThat(bytes).containsExactly(2, 3);
        assertThat(KvCodec.BYTE_BUFFER.encode(buffer)).containsExactly(9, 3);
        assertThat(buffer.position()).isEqualTo(1);
        assertThat(KvCodec.BYTE_BUFFER.decode(bytes)).isEqualTo(ByteBuffer.wrap(new byte[]{2, 3}));
    }

    @Test
    void shouldRefuseNull()
    {
        assertThatThrownBy(() -> KvCodec.BYTES.encode(null)).isInstanceOf(KvInvalidRequestException.class)
            .hasMessageContaining("null");
        assertThatThrownBy(() -> KvCodec.of(null, (bytes) -> bytes)).isInstanceOf(NullPointerException.class);
    }
}
