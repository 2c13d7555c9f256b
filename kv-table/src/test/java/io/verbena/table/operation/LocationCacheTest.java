package io.verbena.table.operation;

import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class LocationCacheTest
{
    private final LocationCache cache = new LocationCache(64);

    @AfterEach
    void close()
    {
        cache.close();
    }

    @Test
    void shouldFindWhatWasPut()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        final long entry = cache.find(1, 2, 3);
        assertThat(entry).isNotEqualTo(LocationCache.NONE);
        assertThat(cache.slotOffset(entry)).isEqualTo(4096);
        assertThat(cache.word(entry)).isEqualTo(77);
        assertThat(cache.version(entry)).isEqualTo(5);
        assertThat(cache.tag(entry)).isEqualTo(6);
    }

    @Test
    void shouldTellKeysAndTablesApart()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        assertThat(cache.find(9, 2, 3)).isEqualTo(LocationCache.NONE);
        assertThat(cache.find(1, 9, 3)).isEqualTo(LocationCache.NONE);
        assertThat(cache.find(1, 2, 9)).isEqualTo(LocationCache.NONE);
    }

    @Test
    void shouldForgetOnlyTheWordThatIsMeant()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        cache.remove(1, 2, 3, 78);
        assertThat(cache.find(1, 2, 3)).isNotEqualTo(LocationCache.NONE);
        cache.remove(1, 2, 3, 77);
        assertThat(cache.find(1, 2, 3)).isEqualTo(LocationCache.NONE);
    }

    @Test
    void shouldConfirmOnlyWhatIsStillKnown()
    {
        final long entry = cache.put(1, 2, 3, 4096, 77, 5, 6);
        assertThat(cache.confirm(entry, 1, 2, 3, 4096, 77, 9)).isTrue();
        assertThat(cache.tag(entry)).isEqualTo(9);
        assertThat(cache.confirm(entry, 1, 2, 3, 4096, 77, 8)).isTrue();
        assertThat(cache.tag(entry)).as("of an older operation").isEqualTo(9);
        assertThat(cache.confirm(entry, 1, 2, 3, 4160, 77, 10)).as("another slot").isFalse();
        assertThat(cache.confirm(entry, 1, 2, 3, 4096, 78, 10)).as("another word").isFalse();
        assertThat(cache.confirm(entry, 9, 2, 3, 4096, 77, 10)).as("another key's entry").isFalse();
        assertThat(cache.confirm(entry, 1, 9, 3, 4096, 77, 10)).as("a key's with the same half of a hash").isFalse();
        assertThat(cache.confirm(entry, 1, 2, 4, 4096, 77, 10)).as("another table's entry").isFalse();
        cache.remove(1, 2, 3, 77);
        assertThat(cache.confirm(entry, 1, 2, 3, 4096, 77, 10)).as("forgotten").isFalse();
        assertThat(cache.tag(entry)).isEqualTo(9);
    }

    @Test
    void shouldConfirmAsOftenAsItLearns()
    {
        final long entry = cache.put(1, 2, 3, 4096, 77, 5, 6);
        for (int i = 0; i < 5; i++)
        {
            cache.learn(1, 2, 3, false);
        }
        for (int i = 0; i < 5; i++)
        {
            assertThat(cache.isWriteHot(entry)).isEqualTo(i > 0);
            assertThat(cache.confirm(entry, 1, 2, 3, 4096, 77, 6)).isTrue();
        }
        assertThat(cache.isWriteHot(entry)).isFalse();
    }

    @Test
    void shouldNotLowerTheTagOfAWordThatIsStillTheSame()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        cache.put(1, 2, 3, 4096, 77, 5, 4);
        assertThat(cache.tag(cache.find(1, 2, 3))).isEqualTo(6);
        cache.put(1, 2, 3, 4096, 78, 5, 4);
        assertThat(cache.tag(cache.find(1, 2, 3))).isEqualTo(4);
    }

    @Test
    void shouldStayBoundedAndNeverMixEntries()
    {
        final Random random = new Random(3);
        for (int i = 0; i < 10_000; i++)
        {
            final long low = random.nextInt(500);
            final long high = low * 31;
            cache.put(low, high, 1, low * 64, low + 1, low, i);
            final long entry = cache.find(low, high, 1);
            assertThat(cache.slotOffset(entry)).isEqualTo(low * 64);
            assertThat(cache.word(entry)).isEqualTo(low + 1);
        }
        int known = 0;
        for (long low = 0; low < 500; low++)
        {
            known += cache.find(low, low * 31, 1) == LocationCache.NONE ? 0 : 1;
        }
        assertThat(known).isBetween(16, 64);
    }

    @Test
    void shouldKnowNothingWhenTurnedOff()
    {
        final LocationCache off = new LocationCache(0);
        off.put(1, 2, 3, 4096, 77, 5, 6);
        assertThat(off.find(1, 2, 3)).isEqualTo(LocationCache.NONE);
        off.remove(1, 2, 3, 77);
    }

    @Test
    void shouldPassByAKeyThatIsMostlyStaleUntilItIsNotAnyMore()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        for (int i = 0; i < 5; i++)
        {
            cache.learn(1, 2, 3, false);
            assertThat(cache.isWriteHot(cache.find(1, 2, 3))).isFalse();
        }
        cache.remove(1, 2, 3, 77);
        cache.learn(1, 2, 3, false);
        cache.put(1, 2, 3, 4096, 78, 6, 6);
        assertThat(cache.isWriteHot(cache.find(1, 2, 3))).isTrue();
        for (int i = 0; i < 6; i++)
        {
            assertThat(cache.isWriteHot(cache.find(1, 2, 3))).isTrue();
            cache.learn(1, 2, 3, true);
        }
        assertThat(cache.isWriteHot(cache.find(1, 2, 3))).isFalse();
    }

    @Test
    void shouldForgetTheDistantPastOfAKey()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        for (int i = 0; i < 100_000; i++)
        {
            cache.learn(1, 2, 3, false);
        }
        for (int i = 0; i < 64; i++)
        {
            cache.learn(1, 2, 3, true);
        }
        assertThat(cache.isWriteHot(cache.find(1, 2, 3))).isFalse();
    }

    @Test
    void shouldJudgeAKeyThatWasHardlyUsedByAllOthers()
    {
        cache.put(1, 2, 3, 4096, 77, 5, 6);
        cache.put(1, 2, 4, 4096, 77, 5, 6);
        for (int i = 0; i < 64; i++)
        {
            assertThat(cache.isWriteHot(cache.find(1, 2, 4))).isFalse();
            cache.learn(1, 2, 3, false);
        }
        assertThat(cache.isWriteHot(cache.find(1, 2, 4))).isTrue();
        for (int i = 0; i < 6; i++)
        {
            cache.learn(1, 2, 4, true);
        }
        assertThat(cache.isWriteHot(cache.find(1, 2, 4))).isFalse();
        cache.learn(9, 9, 9, false);
        assertThat(cache.find(9, 9, 9)).isEqualTo(LocationCache.NONE);
    }
}
