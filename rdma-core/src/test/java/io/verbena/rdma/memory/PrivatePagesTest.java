package io.verbena.rdma.memory;

import io.verbena.rdma.verbs.RdmaException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.agrona.UnsafeApi;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class PrivatePagesTest
{
    /** So much that nothing else that the JVM maps meanwhile comes near it. */
    private static final long BYTES = 4L << 30;

    @Test
    void shouldBeZeroedAlignedAndWritableToItsLastByte()
    {
        final long lengthBytes = 3 * PrivatePages.HUGE_PAGE_BYTES + 8;
        try (PrivatePages pages = PrivatePages.map(lengthBytes))
        {
            assertThat(pages.address() % PrivatePages.HUGE_PAGE_BYTES).isZero();
            final long last = pages.address() + lengthBytes - Long.BYTES;
            assertThat(UnsafeApi.getLong(last)).isZero();
            UnsafeApi.putLong(last, 7);
            assertThat(UnsafeApi.getLong(last)).isEqualTo(7);
        }
    }

    @Test
    void shouldGiveItsAddressSpaceBackOnce() throws Exception
    {
        final long before = mappedBytes();
        final PrivatePages pages = PrivatePages.map(BYTES);
        assertThat(mappedBytes() - before).isGreaterThan(BYTES / 2);
        pages.close();
        pages.close();
        assertThat(mappedBytes() - before).isLessThan(BYTES / 2);
    }

    @Test
    void shouldSayWhenThereIsNotSoMuch()
    {
        assertThatThrownBy(() -> PrivatePages.map(1L << 60)).isInstanceOf(RdmaException.class)
            .hasMessageContaining("cannot map 1152921504606846976 bytes");
    }

    private static long mappedBytes() throws Exception
    {
        return Long.parseLong(Files.readString(Path.of("/proc/self/statm")).split(" ")[0]) * 4096;
    }
}
