#include "net/secret.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tests/net/complaint.h"

namespace nameplate {

namespace {

constexpr const char* kDigits = "00112233445566778899aabbccddeeff";

TEST(Secret, AKeyIsHexadecimalAndLongEnough) {
  EXPECT_EQ(parse_key(std::string(kDigits) + "\n", "here").text(), kDigits);
  for (const char* text : {"", "0011", "00112233445566778899aabbccddee", "00112233445566778899aabbccddeefg"}) {
    const std::string words = complaint([text] { parse_key(text, "the place"); });
    EXPECT_NE(words.find("the place"), std::string::npos) << text;
    if (*text != '\0') {
      EXPECT_EQ(words.find(text), std::string::npos) << "a key must not be shown";
    }
  }
}

TEST(Secret, ANewKeyIsForItsOwnerOnlyAndNeverWrittenOver) {
  const std::string file = (std::filesystem::temp_directory_path() / "nameplate-key-test").string();
  std::filesystem::remove(file);
  write_new_key(file);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  const std::string key = find_key(file).text();
  EXPECT_EQ(key.size(), 64U);
  EXPECT_NE(complaint([&] { write_new_key(file); }).find(file), std::string::npos);
  EXPECT_EQ(find_key(file).text(), key);
  chmod(file.c_str(), 0640);
  EXPECT_NE(complaint([&] { find_key(file); }).find("chmod 600"), std::string::npos);
  std::filesystem::remove(file);
  EXPECT_NE(complaint([&] { find_key(file); }).find("cannot be read"), std::string::npos);
}

TEST(Secret, NoTwoKeysAreAlike) { EXPECT_NE(Key::random().text(), Key::random().text()); }

TEST(Secret, AMacDependsOnKeyLabelAndEveryByte) {
  const Key key = parse_key(kDigits, "");
  std::vector<std::uint8_t> text = {1, 2, 3};
  const Mac mac = authenticate(key.bytes(), "a", {text});
  EXPECT_TRUE(are_equal(mac, authenticate(key.bytes(), "a", {text})));
  EXPECT_FALSE(are_equal(mac, authenticate(key.bytes(), "b", {text})));
  EXPECT_FALSE(are_equal(mac, authenticate(Key::random().bytes(), "a", {text})));
  text[2] = 4;
  EXPECT_FALSE(are_equal(mac, authenticate(key.bytes(), "a", {text})));
}

// What `printf 'label\0text' | openssl dgst -sha256 -mac HMAC -macopt hexkey:…` prints.
TEST(Secret, AMacIsHmacSha256) {
  const std::vector<std::uint8_t> text = {'t', 'e', 'x', 't'};
  const Mac mac = authenticate(parse_key(kDigits, "").bytes(), "label", {text});
  EXPECT_EQ(Key({mac.begin(), mac.end()}).text(), "c2ea37ff37c84e5c318053c5c6524302ec917436914f0454e8af192d835321fd");
}

}  // namespace

}  // namespace nameplate
