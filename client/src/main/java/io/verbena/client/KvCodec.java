package io.verbena.client;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Function;

/**
 * Turns keys or values of a {@link KvTypedTable} into bytes and back. Implementations are thread-safe, and throw
 * {@link KvInvalidRequestException} for what they cannot turn.
 *
 * @param <T> type of the keys or values.
 */
public interface KvCodec<T>
{
    /** Bytes as they are: arrays are neither copied nor shared. */
    KvCodec<byte[]> BYTES = of(Function.identity(), Function.identity());

    /** Text in UTF-8. Bytes that are not UTF-8, and text with half of a surrogate pair, are refused, never replaced. */
    KvCodec<String> UTF_8 = of(KvCodec::encodeText, KvCodec::decodeText);

    /** The bytes from position to limit, which are copied; positions stay. Back, a buffer over a fresh array. */
    KvCodec<ByteBuffer> BYTE_BUFFER = of(KvCodec::copy, ByteBuffer::wrap);

    /** A number in 8 bytes, little-endian: what {@link KvTable#increment(byte[], long)} makes of an absent record. */
    KvCodec<Long> LONG = of(KvCodec::encodeLong, KvCodec::decodeLong);

    /**
     * Makes bytes.
     *
     * @param value not null.
     * @return its bytes, which nobody changes afterwards.
     * @throws KvInvalidRequestException when it has none.
     */
    byte[] encode(T value);

    /**
     * Reads bytes.
     *
     * @param bytes from {@link #encode}, or from anybody who wrote to the table; a fresh array.
     * @return the value.
     * @throws KvInvalidRequestException when they are not those of a value.
     */
    T decode(byte[] bytes);

    /**
     * Makes a codec of two functions.
     *
     * @param encoder as {@link #encode}; thread-safe.
     * @param decoder as {@link #decode}; thread-safe.
     * @param <T>     type of the keys or values.
     * @return the codec.
     */
    static <T> KvCodec<T> of(final Function<? super T, byte[]> encoder, final Function<byte[], ? extends T> decoder)
    {
        Objects.requireNonNull(encoder);
        Objects.requireNonNull(decoder);
        return new KvCodec<>()
        {
            @Override
            public byte[] encode(final T value)
            {
                if (null == value)
                {
                    throw new KvInvalidRequestException("key or value is null");
                }
                return encoder.apply(value);
            }

            @Override
            public T decode(final byte[] bytes)
            {
                return decoder.apply(bytes);
            }
        };
    }

    private static byte[] encodeText(final String text)
    {
        try
        {
            return copy(StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(text)));
        }
        catch (final CharacterCodingException ex)
        {
            throw new KvInvalidRequestException("text of " + text.length() + " characters has half of a surrogate " +
                "pair, for which there is no UTF-8");
        }
    }

    private static String decodeText(final byte[] bytes)
    {
        try
        {
            return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
        }
        catch (final CharacterCodingException ex)
        {
            throw new KvInvalidRequestException(bytes.length + " bytes are not text in UTF-8; read them with " +
                "KvCodec.BYTES");
        }
    }

    private static byte[] copy(final ByteBuffer buffer)
    {
        final byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        return bytes;
    }

    private static byte[] encodeLong(final Long number)
    {
        return ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN).putLong(number).array();
    }

    private static Long decodeLong(final byte[] bytes)
    {
        if (Long.BYTES != bytes.length)
        {
            throw new KvInvalidRequestException(bytes.length + " bytes are not a number, which has " + Long.BYTES);
        }
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
}
