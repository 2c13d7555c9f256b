package io.verbena.protocol.view;

import io.verbena.protocol.message.ControlException;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.test.FormatPage;
import org.agrona.concurrent.UnsafeBuffer;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.util.HexFormat;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PageChecksumsDescriptorTest
{
    private static final int AT = 8;
    private static final int BYTES = PageChecksumsDescriptor.REQUEST_LENGTH_BYTES;
    private static final int PAGE = PageChecksumsDescriptor.PAGE_BYTES;

    private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[AT + 64]);

    private String hex(final int lengthBytes)
    {
        return HexFormat.of().formatHex(buffer.byteArray(), AT, AT + lengthBytes);
    }

    private static void shouldRefuse(final ThrowingCallable call, final String text)
    {
        assertThatThrownBy(call).isInstanceOfSatisfying(ControlException.class,
            (refused) -> assertThat(refused.status()).isEqualTo(ControlStatus.INVALID_REQUEST))
            .hasMessageContaining(text);
    }

    @Test
    void shouldDocumentEveryByte() throws IOException
    {
        FormatPage.of("view-messages.md").shouldAgreeWith(PageChecksumsDescriptor.class);
    }

    @Test
    void shouldWriteTheseBytes()
    {
        // What was there before must not show through.
        buffer.setMemory(0, buffer.capacity(), (byte)0xEE);
        assertThat(PageChecksumsDescriptor.encodeRequest(
            0x0102030405061000L, 0x71234, 0x1112131415161718L, buffer, AT)).isEqualTo(BYTES);
        assertThat(hex(BYTES)).isEqualTo("0010060504030201" + "34120700" + "00000000" + "1817161514131211");
        assertThat(PageChecksumsDescriptor.encodeReply(
            new long[]{0x0102030405060708L, 0x1112131415161718L, -2, 3, 4, 5}, 2, buffer, AT)).isEqualTo(32);
        assertThat(hex(32)).isEqualTo(
            "0807060504030201" + "1817161514131211" + "feffffffffffffff" + "0300000000000000");
    }

    @Test
    void shouldReadWhatItWrote()
    {
        for (final int lengthBytes : new int[]{1, PAGE - 1, PAGE, PAGE + 1, PageChecksumsDescriptor.MAX_LENGTH_BYTES})
        {
            for (final long offset : new long[]{0, PAGE, Long.MAX_VALUE - PAGE + 1})
            {
                PageChecksumsDescriptor.encodeRequest(offset, lengthBytes, -lengthBytes, buffer, AT);
                PageChecksumsDescriptor.require(buffer, AT, BYTES);
                assertThat(PageChecksumsDescriptor.rangeOffset(buffer, AT)).isEqualTo(offset);
                assertThat(PageChecksumsDescriptor.rangeLengthBytes(buffer, AT)).isEqualTo(lengthBytes);
                assertThat(PageChecksumsDescriptor.seed(buffer, AT)).isEqualTo(-lengthBytes);
            }
        }
        final long[] checksums = {1, Long.MIN_VALUE, -1, 0};
        PageChecksumsDescriptor.encodeReply(checksums, 2, buffer, AT);
        assertThat(PageChecksumsDescriptor.decodeReply(2, buffer, AT, 32)).containsExactly(checksums);
    }

    @Test
    void shouldCountAShortPage()
    {
        assertThat(PageChecksumsDescriptor.pages(1)).isOne();
        assertThat(PageChecksumsDescriptor.pages(PAGE)).isOne();
        assertThat(PageChecksumsDescriptor.pages(PAGE + 1)).isEqualTo(2);
        assertThat(PageChecksumsDescriptor.pages(PageChecksumsDescriptor.MAX_LENGTH_BYTES))
            .isEqualTo(PageChecksumsDescriptor.MAX_PAGES);
    }

    /** Neither is it sent, nor is it taken from somebody who sends it. */
    @Test
    void shouldRefuseRangesThatThereCannotBe()
    {
        for (final long offset : new long[]{-PAGE, -1, 1, PAGE - 1, PAGE + 64, Long.MAX_VALUE})
        {
            shouldRefuse(() -> PageChecksumsDescriptor.encodeRequest(offset, PAGE, 1, buffer, AT), "offset=" + offset);
            PageChecksumsDescriptor.encodeRequest(0, PAGE, 1, buffer, AT);
            buffer.putLong(AT + PageChecksumsDescriptor.RANGE_OFFSET, offset, LITTLE_ENDIAN);
            shouldRefuse(() -> PageChecksumsDescriptor.require(buffer, AT, BYTES), "not at offset=" + offset);
        }
        for (final int lengthBytes : new int[]{
            0, -1, Integer.MIN_VALUE, PageChecksumsDescriptor.MAX_LENGTH_BYTES + 1, Integer.MAX_VALUE})
        {
            final String text = "not of lengthBytes=" + lengthBytes;
            shouldRefuse(() -> PageChecksumsDescriptor.encodeRequest(PAGE, lengthBytes, 1, buffer, AT), text);
            PageChecksumsDescriptor.encodeRequest(PAGE, 1, 1, buffer, AT);
            buffer.putInt(
                AT + PageChecksumsDescriptor.RANGE_LENGTH_OFFSET, lengthBytes, LITTLE_ENDIAN);
            shouldRefuse(() -> PageChecksumsDescriptor.require(buffer, AT, BYTES), text);
        }
    }

    /** A reply of other pages than were asked for would be compared with others' pages. */
    @Test
    void shouldRefuseWhatIsCut()
    {
        PageChecksumsDescriptor.encodeRequest(0, PAGE, 1, buffer, AT);
        for (int cut = 0; cut < BYTES; cut++)
        {
            final int lengthBytes = cut;
            shouldRefuse(() -> PageChecksumsDescriptor.require(buffer, AT, lengthBytes),
                "of " + cut + " bytes, needs " + BYTES);
        }
        for (final int wrong : new int[]{0, 16, 31, 33, 48})
        {
            shouldRefuse(() -> PageChecksumsDescriptor.decodeReply(2, buffer, AT, wrong),
                "checksums of " + wrong + " bytes, but 2 pages have 32");
        }
    }
}
