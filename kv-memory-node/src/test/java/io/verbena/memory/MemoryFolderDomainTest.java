package io.verbena.memory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.assertj.core.api.Assertions.assertThat;

/** The failure domain of a memory node lasts as long as its folder, until another one is given. */
class MemoryFolderDomainTest
{
    private static final long LENGTH_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    private MemoryFolder open()
    {
        return MemoryFolder.open(directory.resolve("memory"), 0, LENGTH_BYTES);
    }

    @Test
    void shouldKeepTheLabelThatWasGivenLast()
    {
        try (MemoryFolder folder = open())
        {
            assertThat(folder.failureDomain()).isEmpty();
            folder.failureDomain("rack-1");
            assertThat(folder.failureDomain()).isEqualTo("rack-1");
        }
        try (MemoryFolder folder = open())
        {
            assertThat(folder.failureDomain()).isEqualTo("rack-1");
            folder.joined(3, 4, 5);
        }
        try (MemoryFolder folder = open())
        {
            assertThat(folder.failureDomain()).as("also when it has joined").isEqualTo("rack-1");
            assertThat(folder.nodeId()).isEqualTo(3);
            folder.failureDomain("");
        }
        try (MemoryFolder folder = open())
        {
            assertThat(folder.failureDomain()).isEmpty();
            assertThat(folder.incarnation()).isEqualTo(5);
            assertThat(folder.regionLengthBytes()).isEqualTo(LENGTH_BYTES);
        }
    }
}
