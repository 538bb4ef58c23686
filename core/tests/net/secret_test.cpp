#include "net/secret.h"

#include <gtest/gtest.h>

#include "tests/net/complaint.h"

namespace nameplate {

namespace {

constexpr const char* kKeyText = "00112233445566778899aabbccddeeff";

TEST(Secret, AKeyIsHexadecimalAndLongEnough) {
  EXPECT_EQ(parse_key(std::string(kKeyText) + "\n", "here").text(), kKeyText);
  for (const char* text : {"", "0011", "00112233445566778899aabbccddee", "00112233445566778899aabbccddeefg"}) {
    const std::string message = complaint([text] { parse_key(text, "the place"); });
    EXPECT_NE(message.find("the place"), std::string::npos) << text;
    if (*text != '\0') {
      EXPECT_EQ(message.find(text), std::string::npos) << "a key must not be shown";
    }
  }
}

TEST(Secret, RandomKeysDiffer) { EXPECT_NE(Key::random().text(), Key::random().text()); }

TEST(Secret, AMacDependsOnKeyLabelAndEveryByte) {
  const Key key = parse_key(kKeyText, "");
  std::vector<std::uint8_t> text = {1, 2, 3};
  const Mac mac = authenticate(key.bytes(), "a", {text});
  EXPECT_TRUE(are_equal(mac, authenticate(key.bytes(), "a", {text})));
  EXPECT_FALSE(are_equal(mac, authenticate(key.bytes(), "b", {text})));
  EXPECT_FALSE(are_equal(mac, authenticate(Key::random().bytes(), "a", {text})));
  text[2] = 4;
  EXPECT_FALSE(are_equal(mac, authenticate(key.bytes(), "a", {text})));
}

// The expected value is the output of `printf 'label\0text' | openssl dgst -sha256 -mac HMAC -macopt hexkey:…`.
TEST(Secret, AMacIsHmacSha256) {
  const std::vector<std::uint8_t> text = {'t', 'e', 'x', 't'};
  const Mac mac = authenticate(parse_key(kKeyText, "").bytes(), "label", {text});
  EXPECT_EQ(Key({mac.begin(), mac.end()}).text(), "c2ea37ff37c84e5c318053c5c6524302ec917436914f0454e8af192d835321fd");
}

}  // namespace

}  // namespace nameplate
