package io.verbena.cli.cluster;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads one JSON object (RFC 8259): maps in the order of the text, lists, strings, {@link Long} for whole numbers that
 * fit, {@link Double} for others, {@link Boolean}, null. A name that comes twice is refused, because two readers would
 * disagree about it. Stateless.
 */
public final class JsonReader
{
    private static final int MAX_DEPTH = 64;
    private static final JsonFactory JSON = JsonFactory.builder()
        .streamReadConstraints(StreamReadConstraints.builder().maxNestingDepth(MAX_DEPTH).build())
        .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION).build();

    /** What is wrong with a text, and where. */
    public static final class MalformedJsonException extends RuntimeException
    {
        private static final long serialVersionUID = 1L;

        private MalformedJsonException(final String what, final long at, final Throwable cause)
        {
            super(what + " at byte " + at, cause);
        }
    }

    private JsonReader()
    {
    }

    /**
     * Reads an object that is all of a text.
     *
     * @param text with blanks around it, at most.
     * @return its members.
     * @throws MalformedJsonException when it is not one object.
     */
    public static Map<String, Object> object(final String text)
    {
        // As bytes: the library's reader of characters takes hex digits of other scripts for those of ASCII.
        try (JsonParser json = JSON.createParser(text.getBytes(StandardCharsets.UTF_8)))
        {
            if (JsonToken.START_OBJECT != json.nextToken())
            {
                throw malformed("there is no object", json, null);
            }
            final Map<String, Object> members = map(json);
            if (null != json.nextToken())
            {
                throw malformed("there is something behind the object", json, null);
            }
            return members;
        }
        catch (final JsonProcessingException ex)
        {
            throw new MalformedJsonException(ex.getOriginalMessage(),
                null == ex.getLocation() ? 1 : ex.getLocation().getByteOffset() + 1, ex);
        }
        catch (final IOException ex)
        {
            // Bytes of value 0 at the start, which the library takes for a wider encoding.
            throw new MalformedJsonException("there is no object", 1, ex);
        }
    }

    private static MalformedJsonException malformed(final String what, final JsonParser json, final Throwable cause)
    {
        return new MalformedJsonException(what, json.currentTokenLocation().getByteOffset() + 1, cause);
    }

    private static Map<String, Object> map(final JsonParser json) throws IOException
    {
        final Map<String, Object> members = new LinkedHashMap<>();
        while (JsonToken.FIELD_NAME == json.nextToken())
        {
            final String name = json.currentName();
            json.nextToken();
            members.put(name, value(json));
        }
        return members;
    }

    private static List<Object> list(final JsonParser json) throws IOException
    {
        final List<Object> elements = new ArrayList<>();
        while (JsonToken.END_ARRAY != json.nextToken())
        {
            elements.add(value(json));
        }
        return elements;
    }

    private static Object value(final JsonParser json) throws IOException
    {
        return switch (json.currentToken())
        {
            case START_OBJECT -> map(json);
            case START_ARRAY -> list(json);
            case VALUE_STRING -> json.getText();
            case VALUE_NUMBER_INT -> JsonParser.NumberType.BIG_INTEGER == json.getNumberType() ?
                json.getDoubleValue() : (Object)json.getLongValue();
            case VALUE_NUMBER_FLOAT -> json.getDoubleValue();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> null;
            default -> throw new IllegalStateException("not the token of a value: " + json.currentToken());
        };
    }
}
